"""What a text asks to be done, or a tool's name says it does: six kinds of operation, read off its verbs.

Near-alike tools differ by their verb alone: ``disk_create``, ``disk_get``, ``disk_delete``.  The verbs are the
commonest ones of the languages that the classifier supports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from bot.classifier.embedded.word_lists import UNSPACED, words_of

OPERATIONS: Final = ("get", "list", "create", "update", "delete", "run")

_ENGLISH: Final = {
    "get": "get show display view read open fetch retrieve describe check see tell give look detail inspect state "
    "status lookup download report summarize summarise summary diagnose examine track locate monitor "
    "explain snapshot "
    "usage balance forecast info information return pull verify validate test measure calculate compute determine "
    "estimate analyze analyse evaluate compare",
    "list": "list search find query browse enumerate discover filter count all every each which any recent "
    "latest top "
    "overview lists searches finds",
    "create": "create add new make insert register record log note store save book reserve order reorder open raise "
    "post submit file append write generate draft schedule plan set-up setup build deploy provision fork upload "
    "import request apply convert star subscribe jot put remind enroll enter invite",
    "update": "update set change modify edit patch put rename move assign adjust enable disable configure switch "
    "extend convert resize mark lock unlock replace correct fix raise lower increase decrease reduce "
    "turn toggle swap "
    "reset reschedule restore undelete merge transfer add append tag label close reopen approve "
    "reject accept decline "
    "answer resolve unresolve scale upgrade attach detach link dim bump postpone write manage dispute block unblock "
    "bill charge receive react",
    "delete": "delete remove cancel drop destroy discard unassign unstar revoke withdraw dismiss clear erase purge "
    "kill scrap uninstall unsubscribe detach unlink undo stop decline void archive terminate take-off",
    "run": "run start execute trigger send stop restart apply pay publish notify call launch invoke kick rerun "
    "perform process play begin pause resume power deploy synthesize recognize transcribe translate convert retry "
    "text mail email message forward ship submit approve request vacuum clean lock unlock print sync train simulate "
    "scan backup migrate export ask tell reply",
}
_OTHER_LANGUAGES: Final = {
    "get": "zeig zeige zeigen anzeigen öffne öffnen lies lesen prüfe prüfen sag montre montrez affiche "
    "affichez donne "
    "donnez lire ouvre ouvrez consulter vérifie muestra muéstrame mostrar muestre dame dime ver abre consulta mostra "
    "mostrami mostre leggi apri dammi dimmi vedi veja abra consulte toon geef bekijk lees open pokaż podaj sprawdź "
    "otwórz göster aç oku kontrol getir bakar دكھاؤ أظهر اعرض أرني افتح اقرأ تحقق أعطني दिखाओ दिखाइए "
    "दिखाएं दिखा बताओ "
    "बताइए बताएं खोलो देखें",
    "list": "liste listen auflisten suche suchen such finde finden welche alle recherche recherchez cherche cherchez "
    "trouve trouvez trouver tous toutes quels quelles lista listar busca buscar busque encuentra encontrar todos "
    "todas cuáles elenca cerca cercare trova trovare tutti tutte quali procura procure procurar encontre quais zoek "
    "vind vinden lijst welke znajdź wyszukaj wypisz wszystkie jakie listele bul ara bütün tüm hangi ابحث جد قائمة كل "
    "جميع सूची खोजो खोजें ढूंढो ढूंढें सभी कौन",
    "create": "erstelle erstellen erstell anlegen lege leg füge hinzufügen hinzu buche buchen buch bestelle "
    "bestellen "
    "reserviere reservieren notiere speichere eintragen neu neue neuen crée créer créez ajoute ajouter ajoutez "
    "réserve réserver réservez commande commander commandez enregistre note nouveau nouvelle crea crear cree añade "
    "añadir agrega agregar reserva reservar reserve pide pedir registra guarda nuevo nueva creare "
    "aggiungi aggiungere "
    "prenota prenotare ordina salva nuovo nuova cria criar crie adiciona adicionar adicione encomende registre salve "
    "novo nova maak aanmaken voeg toevoegen boek reserveer bestel noteer nieuw nieuwe utwórz stwórz dodaj zarezerwuj "
    "zamów zapisz nowy nowe nową oluştur ekle kaydet rezervasyon sipariş yeni أنشئ أضف احجز اطلب سجل جديد बनाओ बनाइए "
    "बनाएं जोड़ो जोड़ें बुक ऑर्डर नया",
    "update": "ändere ändern änder aktualisiere aktualisieren setze setzen setz stelle stell verschiebe verschieben "
    "weise zuweisen korrigiere aktiviere deaktiviere erhöhe verlängere modifie modifier modifiez change changer "
    "changez mets mettre mettez déplace déplacer déplacez corrige active désactive augmente prolonge assigne cambia "
    "cambiar cambie actualiza actualizar actualice pon poner ponga mueve mover asigna asignar activa desactiva sube "
    "modifica modificare aggiorna aggiornare imposta impostare sposta spostare assegna attiva disattiva altera "
    "alterar altere muda mudar mude atualiza atualizar atualize define coloca mova atribua wijzig wijzigen verander "
    "pas zet verplaats werk bijwerken zmień zaktualizuj ustaw przenieś przypisz popraw włącz wyłącz "
    "değiştir güncelle "
    "ayarla taşı ata düzelt غيّر غير عدل عدّل حدّث حدث انقل عيّن बदलो बदलें बदल अपडेट सेट",
    "delete": "lösche löschen lösch entferne entfernen storniere stornieren storno kündige absagen streiche supprime "
    "supprimer supprimez efface effacer enlève enlever retire retirer annule annuler annulez elimina "
    "eliminar elimine "
    "borra borrar borre quita quitar cancela cancelar cancele anula anular cancella cancellare rimuovi rimuovere "
    "annulla annullare exclua excluir apague apagar remova remover verwijder verwijderen wis annuleer annuleren usuń "
    "skasuj anuluj odwołaj sil kaldır iptal احذف أزل ألغ ألغِ हटाओ हटाइए हटाएं हटा रद्द मिटा",
    "run": "starte starten start führe ausführen sende senden schicke schicken schick stoppe stoppen "
    "bezahle bezahlen "
    "zahle veröffentliche lance lancer lancez démarre démarrer démarrez exécute exécuter envoie envoyer envoyez "
    "arrête arrêter arrêtez paie payer payez publie publier inicia iniciar inicie ejecuta ejecutar ejecute envía "
    "enviar envíe manda mandar para detén paga pagar pague publica publicar avvia avviare esegui eseguire invia "
    "inviare ferma fermare pagare pubblica execute envia envie mande pare publique verstuur verzenden stuur stop "
    "betaal publiceer voer uruchom wyślij zatrzymaj zapłać opublikuj başlat çalıştır gönder durdur öde yayınla شغّل "
    "شغل ابدأ أرسل ارسل أوقف ادفع انشر चलाओ चलाएं शुरू भेजो भेजिए भेजें भेज रोको भुगतान",
}
_UNSPACED: Final = {
    "get": "見せ 教えて 表示 開いて 確認 読んで 状態 状況 显示 查看 打开 告诉 看看 读取 顯示 보여 알려 열어 확인 읽어",
    "list": "一覧 検索 探して すべて 全部 どの 列出 搜索 查找 找 所有 哪些 搜尋 목록 찾아 검색 모든 어떤",
    "create": "作成 追加 登録 予約 注文 新しい 新規 作って 创建 添加 新建 预订 预约 订购 登记 建立 만들어 추가 "
    "등록 예약 주문 생성 새",
    "update": "変更 更新 設定 移動 修正 割り当て 変えて 修改 更改 设置 改成 移动 分配 調整 변경 수정 업데이트 "
    "설정 바꿔 옮겨 배정",
    "delete": "削除 取り消 キャンセル 消して 解除 删除 取消 移除 删掉 삭제 취소 제거 지워",
    "run": "送信 送って 実行 開始 起動 停止 支払 公開 发送 运行 启动 执行 支付 发布 重启 보내 실행 시작 중지 결제 멈춰",
}
"""Written without spaces, or with endings that join the stem: sought within words."""

_VERBS: Final[dict[str, tuple[int, ...]]] = {}
for _place, _operation in enumerate(OPERATIONS):
    for _word in sorted(words_of(f"{_ENGLISH[_operation]} {_OTHER_LANGUAGES[_operation]}")):
        _VERBS[_word] = (*_VERBS.get(_word, ()), _place)

_STEMS: Final = tuple((place, stem) for place, name in enumerate(OPERATIONS) for stem in _UNSPACED[name].split())

_ENDINGS: Final = (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("d", ""))


@lru_cache(maxsize=32_768)
def operations_of(word: str) -> tuple[int, ...]:
    """The places in :data:`OPERATIONS` of what ``word``, in folded case, asks for: several for an ambiguous verb."""
    found = _VERBS.get(word)
    if found is None and word.isascii():
        found = next(
            (
                _VERBS[word[: -len(ending)] + instead]
                for ending, instead in _ENDINGS
                if word.endswith(ending) and word[: -len(ending)] + instead in _VERBS
            ),
            None,
        )
    if found is None and UNSPACED.search(word):
        found = tuple(dict.fromkeys(place for place, stem in _STEMS if stem in word))
    return found or ()


def operation_shares(words: Iterable[str]) -> list[float]:
    """How much ``words`` speak of each operation: 1 a word, shared among the operations it may stand for."""
    shares = [0.0] * len(OPERATIONS)
    for word in words:
        found = operations_of(word)
        for place in found:
            shares[place] += 1 / len(found)
    return shares


def leading_verb(words: Sequence[str], openers: frozenset[str], reach: int) -> str | None:
    """The first word that asks for an operation: after ``openers``, or else among the first ``reach`` words."""
    for place, word in enumerate(words):
        if operations_of(word):
            return word
        if word not in openers and place >= reach:
            return None
    return None
