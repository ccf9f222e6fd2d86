"""Words that say something about a query's structure or kind, or what it asks to be done.

There are six kinds of operation: near-alike tools such as ``disk_create``, ``disk_get`` and ``disk_delete`` differ by
their verb alone.  The verbs are the commonest ones of the languages that the classifier supports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final


def words_of(words: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(words.split())


# Words that are counted, each list a feature of that name.
LEXICA: Final[dict[str, frozenset[str]]] = {
    "and": words_of("and & plus und et och aur oraz y e"),
    "or": words_of("or either oder ou o lub"),
    "but": words_of("but however although though except"),
    "condition": words_of(
        "if unless when whenever whether depending provided assuming should case wenn falls sofern si caso als "
        "indien jeśli jeżeli gdy agar om"
    ),
    "alternative": words_of("else otherwise instead sonst andernfalls sinon altrimenti senão anders inaczej warna"),
    "order": words_of(
        "then next after afterwards before finally first second once later followed using based dann danach "
        "anschließend puis ensuite luego después poi dopo depois daarna potem następnie"
    ),
    "reference": words_of("it them they that those these this its their him her one ones result results"),
    "quantity": words_of("all every entire whole complete completely full everything each any"),
    "distribution": words_of("each both respectively separately also too simultaneously together well same"),
    "attachment": words_of(
        "attached attachment attachments attach upload uploaded uploading enclosed file files document pdf docx "
        "image photo photos picture pic screenshot recording recorded audio clip scan scanned png jpg jpeg heic xlsx "
        "csv mp3 m4a wav enclosing snapped anbei anhang angehängt beigefügt hochgeladen aufnahme foto fotos ci-joint "
        "jointe joint pièce adjunto adjunta adjuntos subido grabación allegato allegata allego anexo anexei "
        "bijgevoegd bijlage opname załączniku zdjęcie nagranie"
    ),
    "first person": words_of("i i'm i've i'd i'll me my mine myself we our us"),
    "second person": words_of("you your you're you've yours"),
    "courtesy": words_of("please could would can kindly thanks thank may"),
    "negation": words_of("not no never don't doesn't didn't isn't won't can't cannot nothing nobody without"),
    "question": words_of(
        "what which who whom whose where when why how is are was were do does did can could should will"
    ),
}
ACTIONS: Final = words_of(
    "add alert analyse analyze answer append apply approve archive arrange ask assign attach back book build buy "
    "calculate call cancel change check classify close collect combine compare compile compute confirm convert copy "
    "count create cut delete deliver describe design dial disable discuss display divide do download draft draw dump "
    "edit email enable estimate evaluate execute explain export extract fetch file fill filter find fix flag format "
    "forward gather generate get give go grab group help highlight identify import include increase insert install "
    "issue keep launch let link list load locate lock log look lower mail make mark match measure merge message move "
    "name navigate notify open order organise organize outline output pay pick pin ping place plan play plot post "
    "predict prepare present print process produce provide publish pull put quote raise rank read recommend record "
    "reduce refund register reject remind remove rename reopen repeat replace reply report request reschedule "
    "reserve reset resize resolve respond restart restore retrieve return review rewrite rotate route run save scan "
    "schedule score search see select send set share show shut sign simulate solve sort split start stop store "
    "submit subscribe subtract suggest sum summarise summarize switch sync tabulate tag take tell test text tidy "
    "track train transcribe transfer translate trigger try turn unlock update upload use validate verify visit wake "
    "walk warn watch weigh withdraw write"
)

CONJUNCTIONS: Final = LEXICA["and"] | words_of("then also plus or then dann puis luego poi depois daarna oder ou")
"""Words that a further clause may begin after."""

QUESTIONS: Final = words_of(
    "what what's whats which who who's whos whom whose where where's wheres when when's whens why how how's hows is "
    "are was were does did has have any wer wo wann wie welche welcher welches wieviel ist sind hat qui que quel "
    "quelle quels quelles où quand combien comment qué quién dónde cuándo cuánto cuánta cuántos cuántas cuál che chi "
    "dove quando quanto quanti quante qual quem onde quantas quantos wat waar hoe wanneer welke ile kiedy gdzie kto "
    "jak kya kab kahan kitna kitne"
)
"""Words that a question begins with, without those that a polite order begins with."""

OPENERS: Final = words_of(
    "please pls plz can could would will you i i'd i'll we need want like to the uh um so hey hi hello ok okay oh "
    "just also first second third finally next now again maybe kindly let me us and then but bitte kannst du können "
    "sie"
)
"""Words that may stand before a clause's order or question word."""


UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

STOP_WORDS: Final = words_of(
    "a an the of to in on at for by with from and or is are was were be been do does did has have had it its this "
    "that these those i me my we us our you your he she they them his her their as if not no so than then there "
    "please can could would will der die das ein eine den dem des und oder ist sind mit für von zu "
    "im am le la les un "
    "une de du et ou est sont avec pour dans el los las una y o es son con para en il lo gli di e per che os um uma "
    "da"
)
PREPOSITIONS: Final = words_of(
    "in on at for from with using via by of to into within where whose named called that which under about across "
    "through against during before after since until without auf aus bei für mit nach seit unter über von vor wegen "
    "zu dans depuis pour sur avec chez vers par en desde para con sobre hasta por da per su tra em com op uit met "
    "naar voor sinds w z na do od dla için"
)
GREETINGS: Final = words_of(
    "hi hello hey morning evening afternoon thanks thank thx cheers bye goodbye welcome hallo guten morgen tag danke "
    "bonjour salut merci hola gracias buenos ciao grazie buongiorno olá obrigado obrigada hoi dank cześć dziękuję "
    "merhaba teşekkürler مرحبا شكرا नमस्ते धन्यवाद こんにちは ありがとう 你好 谢谢 안녕하세요 "
    "감사합니다 lovely great nice job"
)
SECOND_PERSON: Final = words_of("you your u yourself du sie tu vous usted te você lei jij u ty sen")
WRITING: Final = words_of(
    "write draft compose rewrite rephrase reword paraphrase poem story joke letter essay function "
    "script flyer poster "
    "translate explain recipe suggest recommend advise brainstorm idea ideas invent imagine summarise summarize "
    "review proofread shorten improve validate generate design code regex schreib schreibe verfasse "
    "übersetze erkläre "
    "écris rédige traduis explique escribe redacta traduce explica scrivi traduci spiega escreva traduza napisz "
    "przetłumacz wyjaśnij schrijf vertaal yaz çevir açıkla اكتب ترجم اشرح लिखो लिखिए अनुवाद समझाओ "
    "समझाइए 書いて 翻訳 説明して "
    "写 翻译 解释 써줘 번역 설명"
)
GENERAL: Final = words_of(
    "how why difference differ mean means meaning general generally usually normally typically commonly should would "
    "better best good ideal safe useful work works worth think opinion explain between define definition concept "
    "history began begin founded invented warum unterschied bedeutet normalerweise sollte pourquoi différence "
    "signifie diferencia significa conviene perché differenza porquê diferença waarom verschil betekent dlaczego "
    "różnica znaczy oznacza neden fark nedir لماذا الفرق معنى क्यों अंतर मतलब 違い 意味 なぜ 区别 "
    "什么是 为什么 차이 의미 왜"
)
HOW: Final = words_of(
    "how why wie warum comment pourquoi cómo come perché como porquê hoe waarom jak dlaczego nasıl neden"
)
"""How something is done, or why: rarely a matter of records, unless :data:`MUCH` follows."""
MUCH: Final = words_of("much many long far often old warm cold happy viele viel lange oft muchos tanto veel lang")
FIRST_PERSON: Final = words_of(
    "ai-je suis-je puis-je i i'm i've i'd i'll me my mine we our us ich mir mich mein meine meinen "
    "meiner wir unser unsere uns je j'ai moi "
    "mon ma mes nous notre nos yo mi mis tengo nuestro nuestra io mio mia ho nostro eu meu minha meus tenho nosso ik "
    "mij mijn ons onze mój moja moje mnie nasz benim bana أنا لي मेरा मेरी मेरे मुझे हमारे 私の 我的 我 내 나의 제"
)
LIVE: Final = words_of(
    "today tonight tomorrow yesterday now currently current still yet left open pending latest last next this week "
    "month year january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday status available free due overdue new recent scheduled heute morgen "
    "gestern jetzt noch offen offene aktuell nächste nächsten letzte letzten woche monat aujourd'hui demain hier "
    "encore prochain prochaine dernier dernière semaine mois hoy mañana ayer ahora último última próximo próxima "
    "semana mes oggi domani ieri adesso ancora ultimo prossimo settimana hoje amanhã ontem agora vandaag gisteren nu "
    "laatste volgende dziś jutro wczoraj teraz ostatni następny bugün yarın dün şimdi son اليوم غدا أمس الآن आज कल "
    "अभी पिछले अगले 今日 明日 昨日 今 最新 今天 明天 昨天 现在 最近 오늘 내일 어제 지금"
)
DOCUMENTS: Final = words_of(
    "policy policies handbook guide guidelines guideline manual terms document documents docs documentation "
    "regulation regulations rule rules by-law intranet wiki mail mails email emails chat chats news "
    "press article web "
    "site website says say according library folder directory contract presentation file"
)
VAGUE: Final = words_of(
    "need want like help problem issue something wrong trouble question stuff thing things up would i'd have got "
    "brauche möchte hilfe frage besoin aide voudrais problème necesito quiero ayuda problema vorrei bisogno aiuto "
    "preciso ajuda hulp nodig potrzebuję pomoc yardım sorun"
)
COMPARISON: Final = words_of(
    "better than versus vs or best most good bad besser als mieux que mejor peor meglio melhor beter lepszy"
)
PLAIN_VERBS: Final = words_of(
    "get list show read fetch search find create add new post make update set put patch edit modify change write "
    "delete remove cancel"
)
"""Verbs that say what a tool does, and nothing of what with."""
SEARCHES: Final = words_of(
    "search searches query queries lookup retrieve retrieves find finds fetch answer answers suche recherche buscar"
)
KNOWLEDGE: Final = words_of(
    "docs documentation documents document articles article knowledge content web page pages faq faqs question "
    "questions answers wiki policies policy information results internet"
)
"""A tool with a word of both searches texts: it may be called for what is otherwise general knowledge."""
YES_OR_NO: Final = words_of(
    "is are can could do does did would should will has have was were ist sind kann darf est-ce es è é"
)
CUES: Final = {
    "greeting": GREETINGS,
    "second person": SECOND_PERSON,
    "writing": WRITING,
    "general": GENERAL,
    "first person": FIRST_PERSON,
    "live": LIVE,
    "documents": DOCUMENTS,
    "vague": VAGUE,
    "comparison": COMPARISON,
}
"""Words that say something of whether a query calls any tool."""
UNSPACED_CUES: Final = {
    name: tuple(sorted(word for word in words if UNSPACED.search(word))) for name, words in CUES.items()
}
"""Those of scripts that are written without spaces, or that join endings to words: sought within words."""


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
