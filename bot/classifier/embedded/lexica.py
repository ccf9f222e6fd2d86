"""Words that say something of a query's structure: English, and the commonest of other European languages."""

from __future__ import annotations

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
