"""What courtesy says in so many words: greetings, thanks, apologies, conditions that state none, and request frames.

Frames are a grammar rather than a list: who asks, adverbs, verbs of asking and what they take.
The words are those of English and the commonest of the other supported languages.
"""

from __future__ import annotations

import re
from typing import Final

_PARTS: dict[str, str] = {}


def _defined(name: str, pattern: str) -> str:
    """``pattern`` with the parts it names as {NAME}, for others to name."""
    _PARTS[name] = f"(?:{_filled(pattern)})"
    return _PARTS[name]


def _filled(pattern: str) -> str:
    return re.sub(r"\{([A-Z]+)\}", lambda found: _PARTS[found[1]], pattern)


def _bounded(pattern: str) -> str:
    """``pattern`` with groups that are repeated a few times at most and give nothing back once they match.

    Anybody writes these texts, and trying all ways to read a run of adverbs takes ages.
    """
    return _REPEATED.sub(lambda found: f"{found[1]}{_COUNTS.get(found[2], found[2])}+", _filled(pattern))


_REPEATED: Final = re.compile(r"(\)|\[, \])([*+]|\{\d+,\d*\})(?![?+])")
_COUNTS: Final = {"*": "{0,6}", "+": "{1,6}"}


_defined("START", r"(?<![^\s,.;:!?–—-])")
_defined("BEGIN", r"(?<!\S)(?:^|(?<=[.!?,;:–—-]\s))")
_defined(
    "CLAUSE",
    r"(?<!\S)(?:^|(?<=[,.;:!?–—-]\s)|(?<=\bbut\s)|(?<=\band\s)|(?<=\bso\s)|(?<=\bor\s)|(?<=\bthen\s)"
    r"|(?<=\balso\s))",
)
_defined("STOP", r"(?=$|[\s,.;:!?–-])\s*[,!:–-]*")
_defined("END", r"(?=\s*(?:$|[,.;:!?–—)-]))\s*[,!:–—-]*")
_defined(
    "ADVERB",
    r"please|kindly|possibly|perhaps|maybe|just|quickly|also|simply|really|actually|even|now|ever so"
    r"|very|most|truly|so"
    r"|too|rather|greatly|quite|terribly|awfully|extremely|deeply|hugely|super|immensely|only|at all"
    r"|by any chance|once"
    r"|again|please,|in turn|humbly|respectfully|much|first|quick|briefly|in all courtesy|already|hereby"
    r"|therefore|thus",
)
_defined("ADVERBS", r"(?:[, ]*\b{ADVERB}\b[, ]*)*")
_defined("GAP", r"(?:[, ]+(?:{ADVERB}[, ]+)*)")
_defined("MODAL", r"can|could|can['’]?t|couldn['’]t|would|wouldn['’]t|will|won['’]t|may|might|shall|should")
_defined(
    "SOMEONE",
    r"you(?: all| guys| folks| lot)?|u|ya|y['’]?all|someone|somebody|anyone|anybody|one of you"
    r"|(?:a|some|any) (?:kind|good|nice|friendly) (?:soul|person|colleague|one)",
)
_defined("THERE", r"(?: (?:there|here|in the (?:team|office)|at your end))?")
_defined("WE", r"i|we|one")
_defined("OUGHT", r"['’]d| would| should| shall| will|['’]ll| am|['’]m|['’]re| are| was| were| do| must|")
_defined(
    "GLAD",
    r"glad|grateful|thankful|obliged|happy|delighted|pleased|thrilled|appreciative|indebted|overjoyed"
    r"|eager|keen",
)
_defined(
    "READY",
    r"able|willing|happy|good enough|kind enough|nice enough|decent enough|{ADVERBS}(?:good|kind|nice"
    r"|gracious|lovely)"
    r"(?: as)?|(?:an?|my) (?:\w+ )?(?:angel|dear|star|love|darling|legend|pal|mate|sport|saint|gem|hero"
    r"|sweetheart|champ)"
    r"|prepared|inclined|minded|up for|free|available|alright|all right|okay|ok|in a position",
)
_defined("BEING", r"be{GAP}?\s*{READY}(?:{GAP}?\s*(?:to|and))?|feel (?:able|inclined|free) to")
_defined(
    "DOING",
    r"{BEING}|see your way(?: clear)? to|find (?:it in your (?:heart|power)|a moment|the time|time"
    r"|a minute) to"
    r"|help me(?: out)?(?: to| by| and)?(?= \w)|help out (?:and|by)|manage to|go ahead and|try (?:to"
    r"|and)|mind(?: awfully| terribly| very much| too much)?"
    r"|have a (?:\w+ )?(?:go|stab) at|do me (?:a|the) (?:\w+ )?(?:favou?r|kindness|courtesy|honou?r) "
    r"(?:and|of|to)"
    r"|spare (?:me )?a (?:moment|minute|second) (?:to|and)|take a (?:moment|minute|second) (?:to|and)"
    r"|care to|get to",
)
_defined("QUESTION", r"who|whose|whom|what|which|when|where|why|how|whether|if")
_defined(
    "BOTHER",
    r"trouble|bother|imposition|inconvenience|hassle|problem|nuisance|burden|effort|work|ask|faff|chore"
    r"|pain",
)
_defined(
    "MOMENT",
    r"(?:a|the|some|any|one|half a|an?other)?\s*(?:quick |free |spare |quiet |idle |odd )*"
    r"(?:sec(?:ond)?s?|min(?:ute)?s?|moments?|mo|chance|time|gap|tick|while|bit of time|opportunity)",
)

# Conditions that state none.
_defined("SUITED", r"(?:too|so|any|a|at all|much|such|{ADVERB}|big|great|huge|extra|not)\b")
_defined(
    "UNCONDITIONAL",
    r"if (?:it|that|this)(?:['’]s| is|['’]d be| would be| were| was)?(?: not|n['’]?t)?(?: be)?"
    r"(?: {SUITED})* {BOTHER}"
    r"(?: of you| for you| to you| to ask| with you)*"
    r"|if (?:it|that|this)(?:['’]s| is| were| would be|['’]d be| isn['’]?t| wouldn['’]?t be)(?: not)?"
    r"(?: {SUITED})*"
    r" (?:okay|ok|alright|all right|possible|convenient|fine|feasible|no {BOTHER}|{BOTHER})(?: with you"
    r"| for you| to ask)*"
    r"|if (?:you|u|someone|anyone)(?: all)?(?: really)? (?:do not|don['’]?t|wouldn['’]t|would not) mind"
    r"(?: (?:me|my) (?:asking|saying))?"
    r"|if (?:you|u|someone|anyone|anybody)(?: {OUGHT})?(?:['’]d|['’]ll|['’]re| would| could| can| will"
    r"| are| might)?"
    r"{GAP}{BEING}"
    r"|if (?:you|u|someone)(?:['’]ve|['’]d| could| can| might| happen to| should)*(?: got| get"
    r"| find| spare| have)+"
    r" {MOMENT}(?: (?:to spare|for me|free|spare|today|at some point|for this))*"
    r"|if (?:i|we) (?:may|might|can|could|am allowed)(?:{GAP}?(?:be so bold(?: as to ask)?|ask|enquire"
    r"|trouble you"
    r"|impose|add|say so|make so bold))?{END}"
    r"|if (?:you please|you pls)|if (?:you|u)(?: would|['’]d| will|['’]ll| could| can| kindly)"
    r"(?: do so)?"
    r"(?: (?:please|kindly))?{END}"
    r"|if (?:at all |humanly |anyhow )?(?:possible|poss|convenient|feasible|permitted)"
    r"|if (?:you|u)(?:['’]ll| will| would|['’]d| can)? (?:allow|permit|forgive|pardon|excuse|indulge"
    r"|bear with)"
    r"(?: (?:me|us|with me))?(?: (?:the|my|asking|for asking|this)(?: [\w'’-]+){0,3})?{END}"
    r"|if (?:it|that|this|time|your (?:time|schedule|duties))(?: (?:all|so))? (?:suits|permits?|pleases"
    r"|allows?|works)"
    r"(?: (?:you|for you))?|if it (?:lies|is|be) (?:with)?in your (?:powers?|gift|remit|hands)"
    r"|if (?:it['’]s|it is) not asking(?: {SUITED})*|if (?:i|we)(?:['’]m| am|['’]re| are) not (?:asking"
    r"|bothering|imposing|troubling"
    r"|disturbing|keeping)(?: [\w'’]+){0,3}{END}|if you (?:feel like it|are (?:free|around|there)"
    r"|get round to it)",
)
_defined(
    "LEISURE",
    r"(?:when(?:ever)?|once|as soon as|should) (?:you|u|ya)(?:['’]ve|['’]re|['’]ll)?(?: have| get| find"
    r"| got| can spare| are| happen to)*"
    r" (?:{MOMENT}|free|ready|able|around)(?: (?:to spare|for me|spare|free))*"
    r"|when(?:ever)? (?:(?:it|this|that)(?:['’]s| is)? )?(?:suits?|convenient|possible|works)(?: (?:you"
    r"|best|for you))*"
    r"|when(?:ever)? (?:you|u) can{END}|at your(?: (?:earliest|own|next))? (?:convenience|leisure|pace"
    r"|opportunity)"
    r"|in your own (?:good )?time|(?:there(?:['’]s| is) )?(?:no|not any|zero|no great|no big) (?:rush"
    r"|hurry|pressure|urgency)"
    r"(?: (?:at all|whatsoever|on this|here|with this))*(?:,? but)?|take your time",
)

# Greetings and whom they address.
_defined(
    "VOCATIVE",
    r"(?<!, )there|team|all|everyone|everybody|folks|friends?|again|sir|madam|ma['’]?am|ma|boss|dear|mate"
    r"|assistant|colleagues?"
    r"|council|helpdesk|desk|support|people|guys|lads|ladies|gents|gentlemen|buddy|pal|bot|helper|ji"
    r"|chief|y['’]?all|gang"
    r"|crew|office|both|doc|robot|computer|service|you(?: lot| two| all)?|stranger|hr|it(?=[,.:!–-])",
)
_defined(
    "HELLO",
    r"(?:hi|hello|hey|hiya|hullo|yo|heya|hallo|howdy|howzit|oi|ahoy|g['’]day|greetings|salutations|namaste"
    r"|namaskar|salaam"
    r"|salam|shalom|aloha|ciao|bonjour|hola|(?:a )?(?:very )?(?:good )?(?:morning|afternoon|evening)"
    r"|good day|top of the morning"
    r"|compliments of the (?:season|day)|(?:[\w'’-]+ )?greetings|(?:kind|warm|best|cordial|friendly) "
    r"(?:regards|wishes))\b",
)
_defined(
    "WHOM", r"(?:[ ,]+(?:to )?(?:my )?(?:dear |kind |lovely |good )?{VOCATIVE}(?![\w'’]))*(?: (?:dear|kind) [\w'’-]+)?"
)
_defined(
    "GREETING",
    r"{HELLO}{WHOM}(?: (?:and (?:thanks|thank you|good day|welcome)[^,.!?;:]{0,30}|from [^,.!?;:]{2,40}"
    r"|to (?:you|all)[^,.!?;:]{0,20}))?{END}"
    r"|{HELLO}{WHOM}(?=\s)"
    r"|(?:my )?(?:dear|respected|esteemed|honou?red|dearest)(?: (?:sir|madam|sirs|or|and|/"
    r"|[\w'’-]+)){1,4}\s*[,:!.–—-]+"
    r"|to whom(?:so)?ever? it may concern[,:.]?|to whom it may concern[,:.]?"
    r"|pleased to be in touch|nice to meet you|(?:maestro|boss|mate|bro|bruv|dude|yaar|bhai|fam|oga|pal"
    r"|guys|lads|folks|sis|chief)(?=[, ]+\w)",
)
_defined(
    "WELL",
    r"(?:i |we )?(?:do |really |just )?hop(?:e|ing|es) (?:you|u|this|that|all|everyone|everything|things"
    r"|the|your|it)(?:['’]\w+)?"
    r"(?: (?!(?:can|could|may|might|would|will)\b)[\w'’-]+){0,9}? (?:well|good|great|fine|okay|ok|kindly"
    r"|safe|nicely|weekend|day|week|bother|imposition|trouble|silly question|stupid question"
    r"|good (?:health|spirits)|place|asking|{BOTHER}){END}(?: but\b)?"
    r"|hope (?:you )?(?:don['’]?t|do not) mind (?:me|my) asking",
)

# Thanks and farewells.
_defined(
    "THANK",
    r"(?:thanks|thank you|thank u|thanking you|thankyou|thx|thnx|tnx|tysm|tyvm|ty|cheers|ta|i thank you"
    r"|we thank you|gratitude)\b",
)
_defined(
    "DEGREE",
    r"so|much|very|a lot|a million|a bunch|a ton|tons|heaps|loads|plenty|awfully|kindly|ever so|ever"
    r"|indeed|again|truly|once more|in advance"
    r"|in anticipation|already|dear|mate|indeed|very much|kindly|you|love|guys|all|team|boss|legend"
    r"|muchly|sincerely|anyway|to you"
    r"|a thousand times|sir|madam|friend|everyone|in anticipation of your (?:help|reply)|either way"
    r"|with (?:love|respect)",
)
_defined(
    "KINDLY",
    r"(?:many|warm|kind|best|heartfelt|sincere|with|my|our|all|big|lovely|great|most|eternal|a thousand"
    r"|thousand|much|very)",
)
_defined(
    "FORHELP",
    r"for (?:your|the|any|all(?: (?:your|the))?|this)(?: \w+){0,2}? (?:help|time|trouble|assistance"
    r"|patience|attention|kindness|support|understanding|effort|service|consideration|reply|work|pains)"
    r"|for (?:being|looking|helping|taking|having|reading|bearing|listening|all|everything|considering"
    r"|putting up)(?: (?:there|here|with me|this|it|at|on|into|me|at this|that|patient|so|us|up|out"
    r"|of you|with|you do|a look)){0,4}",
)
_defined(
    "FAREWELL",
    r"(?:and )?(?:{KINDLY} )*{THANK}(?:[, ]+(?:{DEGREE})\b)*(?: {FORHELP}|(?! for\b))(?:[, ]+"
    r"(?:{DEGREE})\b)*(?:,? (?:and|&) (?:kind |best |warm )?(?:regards|all the best|best wishes|"
    r"(?:god )?bless(?: you)?|remain blessed|stay (?:safe|blessed)|have a [\w ]{3,20}|goodbye|bye))?"
    r"|(?:and )?(?:god )?bless(?:ings)?(?: (?:you|u|ya|your heart|to you))(?: all)?|god bless|(?:remain"
    r"|stay|be) (?:blessed|safe|well)|many blessings"
    r"|(?:and )?(?:do )?have (?:a|an)(?: (?:very|really|most))? (?:nice|good|great|lovely|blessed"
    r"|wonderful|pleasant|fab|beautiful|relaxing|calm|quiet|peaceful|productive)(?: (?:rest of (?:the"
    r"|your)|one|day|evening|weekend|week|time|morning|afternoon|night|shift|ahead))+"
    r"|(?:you(?:['’]re| are|['’]d be|r)|ur) (?:such )?(?:a|an|the)(?: (?:absolute|real|total|true|proper"
    r"|complete|great|big|wee|best))* (?:star|angel|legend|gem|lifesaver|life saver|saint|treasure|hero"
    r"|love|darling|dear|help|champion|champ|best|wonder|marvel|sweetheart|diamond|brick)"
    r"|(?:you(?:['’]re| are) |that(?:['’]s| is| would be|['’]d be) )?(?:very|too|so|most|really|ever so"
    r"|extremely|terribly|awfully) (?:kind|nice|good|sweet|helpful|lovely|wonderful)(?: (?:of you"
    r"|indeed))?{END}"
    r"|that would be (?:a )?(?:\w+ )?(?:wonderful|lovely|great|marvellous|marvelous|nice|a great help"
    r"|great help|most helpful|so nice|kind|fantastic|perfect|brilliant|much appreciated|helpful|super"
    r"|a big help)"
    r"|(?:you(?:['’]d| would) be doing me an? (?:\w+ )*favou?r)"
    r"|(?:i|we)(?:{OUGHT})(?: {ADVERB})*(?: be)?(?: (?:ever|{ADVERB}))* (?:grateful|thankful|obliged"
    r"|indebted|in your debt|appreciative)(?: (?:to you|for (?:it|this|that|your [\w]+|any help)|indeed"
    r"|in advance))*{END}"
    r"|(?:i|we)(?:{OUGHT})(?: (?:{ADVERB}|much))* (?:appreciate|value) (?:it|this|that|you|your (?:help"
    r"|time|trouble|assistance|patience|support|efforts?))(?: (?:{DEGREE}|greatly|immensely|very much"
    r"|a lot|a great deal|enormously))*"
    r"|(?:(?:very |so |most |ever so |truly |much |eternally )+)(?:grateful|obliged|appreciated"
    r"|thankful)(?: (?:for (?:your|any|the) [\w ]{2,20}?|to you|indeed|in advance))?{END}"
    r"|(?:greatly |much |really )?appreciated{END}|grateful for (?:your|any) \w+|(?:with )?(?:best|kind"
    r"|warm|kindest|warmest|many)(?: \w+)? (?:regards|wishes)|regards{END}"
    r"|all the (?:very )?best{END}|yours (?:truly|sincerely|faithfully|ever|gratefully)|sincerely{END}|"
    r"(?:lovely|brilliant|super|great|perfect|fab|ace|sweet|grand|wonderful)[, ]+{THANK}"
    r"|(?:your|any|an?) (?:\w+ )?(?:help|ideas?|explanation|answer|reply|insights?|assistance|advice"
    r"|support|input|thoughts|feedback|guidance|hint)(?: (?:is|are|would be|will be|on this|here))* "
    r"(?:\w+ ){0,3}?(?:appreciated|welcome|valued){END}"
    r"|(?:with|my|our|warm\w*|kind\w*|best|most)(?: [\w'’-]+){0,3}? (?:regards|greetings|compliments"
    r"|salutations|gratitude|thanks|appreciation|wishes)(?: from [^.!?]{2,40}| (?:to you|in advance"
    r"|for [^.!?,]{2,40}))?{END}"
    r"|looking forward to (?:it|your (?:reply|answer|response)|hearing from you)|(?:diolch|mahalo"
    r"|arigato|shukran|asante(?: sana)?|salamat|tack(?: så mycket)?|takk|kiitos|mange tak|spasibo"
    r"|baie dankie|dankie|slàinte|sláinte|go raibh maith agat|jazakallah|dhanyavaad|shukriya|inshallah"
    r"|efharisto|tak)(?: (?:so much|in advance))?{END}",
)

# Apologies.
_defined(
    "SORRY",
    r"(?:(?:i|we)(?:['’]m| am| do|['’]re| are)?{ADVERBS}\s*)?{ADVERBS}\s*sorry(?: (?:to (?:be|bother"
    r"|trouble|disturb|drop|ask|pester|interrupt|intrude|impose|nag|chase|butt|bug|come|keep|barge|land"
    r"|add|jump|hassle|dump|raise|write|put|have to)|for (?:the|my|another|all the|any|yet another|being"
    r"|asking|bothering|this|dropping|interrupting|disturbing|yet)|if (?:i|this|it|that)|about (?:this"
    r"|the|that|all))\b(?:(?! but\b)[^,.:;!?–—]){0,60})?(?: but\b|{END})(?: but\b)?"
    r"|(?:i )?(?:do )?(?:hate|am loath|['’]m loath|don['’]?t (?:like|want|mean|wish)) to (?:impose"
    r"|bother|ask|be (?:a|an)|trouble|pester|nag|disturb|intrude|interrupt|rush|be)\b[^,.:;!?–—]{0,40}?"
    r"(?:,? but\b|{END})"
    r"|(?:i )?(?:(?:do )?beg|begging|craving) (?:your )?pardon(?: for [^,.:;!?–—]{2,50})?(?:,? but\b"
    r"|{END})"
    r"|(?:please )?(?:forgive|excuse|pardon)(?: (?:me|us))?(?: (?:for|the|my|our|this"
    r"|such)(?! [^,.:;!?]*\b(?:photo|pic|image|scan|recording|file|attach|send|screenshot|audio|document"
    r"|picture|shot)\w*)(?: [\w'’-]+){1,8}?)?(?:,? but\b|{END})"
    r"|excuse me(?: please)?|(?:with |my |many |sincere |our |humble |a thousand |all due )*(?:apologies"
    r"|respect)(?: (?:for|in advance|if)(?! [^,.:;!?]*\b(?:photo|scan|recording|file"
    r"|attach)\w*)[^,.:;!?–—]{0,50})?(?:,? but\b|{END})"
    r"|(?:i|we) (?:do )?apologi[sz]e(?: (?:for|in advance|if)[^,.:;!?–—]{0,50})?(?:,? but\b|{END})"
    r"|(?:i(?:['’]m| am) )?afraid(?= (?:i|we|there|it|that|this|the)\b)|i(?:['’]m| am) afraid(?= )"
    r"|(?:with|by) your (?:kind |gracious )?(?:permission|leave|indulgence|help){END}|(?:permit"
    r"|allow) me (?:an?|one|two) [\w -]{3,25}{END}|permit (?:me )?a question"
    r"|(?:i|we) (?:wish|bid) you (?:an? )?[\w ]{3,30}? (?:day|evening|week|morning|afternoon|weekend)"
    r"|(?:may|might) your (?:\w+ ){1,3}be [\w ]{3,30}{END}"
    r"|(?:just )?(?:a |one |two |another |only a |this is )?(?:quick|small|little|tiny|silly|daft|stupid"
    r"|simple|brief)(?: (?:quick|small|little|tiny|silly))? (?:one|question|questions|thing|favou?r"
    r"|request|ask)(?: (?:if i may|for you|please|from me|for the team|today))*{END}",
)
_OTHERS: Final = (
    r"please|pls+|plz+|plse|(?:very |most |so |awfully |ever so |but )*kindly|graciously|pray(?=,)|abeg"
    r"|biko|lol|lmao|haha+|hehe|btw|tbh|fyi|um+|uh+|erm"
    r"|bitte|danke(?: schön| sehr| im voraus)?|vielen dank|hallo|guten (?:tag|morgen|abend)|liebe grüße"
    r"|por favor|gracias(?: de antemano)?|muchas gracias|hola|buenos días|buenas tardes"
    r"|s'il (?:vous|te) pla[iî]t|merci(?: beaucoup| d'avance)?|bonjour|bonsoir|salut"
    r"|obrigad[oa]|muito obrigad[oa]|olá|bom dia|boa tarde|per favore|grazie(?: mille)?|ciao|buongiorno"
    r"|buonasera"
    r"|alstublieft|alsjeblieft|dank je(?: wel)?|bedankt|hoi|goedemorgen|proszę|dziękuję|dzień dobry"
    r"|cześć"
    r"|lütfen|teşekkürler|teşekkür ederim|merhaba|günaydın"  # noqa: RUF001
)
COURTESIES: Final = tuple(
    _bounded(f"{{START}}(?:{courtesy}){{STOP}}")
    for courtesy in ("{WELL}", "{SORRY}", "{UNCONDITIONAL}", "{LEISURE}", "{FAREWELL}", "{BEGIN}{GREETING}", _OTHERS)
)
"""By their kinds: most texts may have one or two of these, which are searched for far sooner than all together."""

CLAUSE_STARTS: Final = re.compile(
    r"\s(?:(?<=[,.;:!?–—-]\s)|(?<=\bbut\s)|(?<=\band\s)|(?<=\bso\s)|(?<=\bor\s)|(?<=\bthen\s)|(?<=\balso\s))",
    re.IGNORECASE,
)
"""Ends where a clause begins that is not the first: what {CLAUSE} matches, found several times sooner."""

# Request frames: they ask for what follows them.
_defined("HEAR", r"hear|know|learn|be told|find out|understand|discover|ascertain|be informed|be advised")
_defined(
    "GET",
    r"have|get|see|be given|be sent|receive|be shown|grab|obtain|be handed|be provided with"
    r"|take a look at|look at|view",
)
_defined(
    "ASK",
    r"ask|beg|request|enquire|inquire|trouble|bother|implore|prevail on|prevail upon|call on|invite"
    r"|impose on",
)
_defined("DETERMINER", r"a|an|the|some|any|all|every|each|my|our|your|this|that|these|those|just|both|\d+|two|three")
_defined(
    "IFYOU",
    r"(?:if|whether|that){GAP}(?:{SOMEONE}|i|we){THERE}(?:['’]d|['’]ll)?(?:{GAP}(?:{MODAL}|were to"
    r"|was to|were|happen(?:ed)? to))?(?:{GAP}(?:{DOING}|get (?:you|someone) to))?",
)
_defined("MAYYOU", r"(?:{MODAL}|do|did){GAP}{SOMEONE}{THERE}(?:{GAP}{MODAL})?(?:{GAP}{DOING})*")
_defined(
    "ASKYOU",
    r"(?:{ASK})(?: (?:of )?(?:{SOMEONE}|the team))?(?: (?:the|a|another) (?:\w+ )?(?:favou?r|kindness"
    r"|question))?(?:{GAP}(?:to|if|whether|that|about))?(?:{GAP}{SOMEONE})?(?:{GAP}(?:{MODAL}))?"
    r"(?:{GAP}{DOING})?",
)
_defined("MAYI", r"(?:{MODAL}|do){GAP}{WE}")
_defined(
    "WONDER",
    r"(?:{WE})(?:['’]ve been|['’]m| am| was| were| have been|['’]d been| do)?(?:{GAP}?(?:here |writing "
    r"|calling |coming )?)(?:\b(?:wonder(?:ed|ing)?|hop(?:e|ed|ing)|curious|asking|checking|writing"
    r"|seeking))(?:{GAP}(?:to (?:ask|know|hear|learn|find out|enquire|request)|about|you know|as to))?",
)
_defined(
    "WISH",
    r"(?:(?:{WE})(?:{OUGHT})|(?:our|my) (?:[\w'’-]+ ){1,4}?(?:would|should))(?:{GAP}?\b(?:be|feel))?"
    r"(?:{GAP}?\s*\b(?:{GLAD}|interested|curious|in your debt|a lot \w+|relieved|honou?red))",
)
_defined(
    "LOVE",
    r"(?:{WE}|(?:our|the whole|my) (?:[\w'’-]+ ){1,4}?(?=would))(?:['’]d| ?would| should|)(?:{GAP}?\s*\b"
    r"(?:appreciate|love|value|welcome|like|need|want|treasure|care))(?: it)?(?=\s)",
)
_defined(
    "NICE",
    r"(?:it|that|this)(?: would|['’]d)(?:{GAP}be)?(?: {ADVERB})*(?: (?:an?|the|my|me|us|enormously"
    r"|immensely|no end|world))*(?: (?:great|lovely|nice|helpful|good|fantastic|wonderful|kind|super"
    r"|brilliant|marvellous|amazing|cool|useful|handy|ideal|perfect|help|relief|favour|kindness|joy"
    r"|delight|mean(?: a lot)?|day|make|appreciated))+(?: (?:of you|me|us|to me|my day|enormously"
    r"|immensely|a lot|no end|hugely))*",
)
_defined(
    "POSSIBLE",
    r"(?:(?:is|would|might|could|will) (?:it|that) (?:be )?{ADVERBS}\s*(?:possible|okay|ok|alright"
    r"|all right|acceptable|feasible|fine|in order|(?:too|so) (?:much|bold|cheeky)(?: (?:trouble|bother"
    r"|to ask))?|asking too much|rude|imposing)|(?:is|would) there(?: be)? (?:any|a) (?:chance|way"
    r"|possibility|hope)|any (?:chance|way|hope)|what are the chances|any possibility)(?:,)?(?: (?:for "
    r"(?:you|me|us|someone)|of you|of))?(?:{GAP}(?:to(?: (?:ask|trouble) (?:you )?(?:to|for))?|if"
    r"|that))?(?:{GAP}(?:{SOMEONE}|i|we))?(?:{GAP}(?:{MODAL}))?(?:{GAP}{DOING})?",
)

FRAMES: Final = tuple(
    (_bounded(pattern), asked)
    for pattern, asked in (
        # what leads from one frame into another
        (r"{CLAUSE}(?:{WONDER}|{NICE}|{WISH}|{LOVE}),?{GAP}{IFYOU}{GAP}", ""),
        (r"{CLAUSE}{WONDER},?(?:{GAP}(?:if|whether|that|about))?(?=\s)\s+", ""),
        (
            (
                r"{CLAUSE}(?:do|don['’]t) you (?:think|suppose|reckon)(?: that)?{GAP}(?:{SOMEONE}|i|we){GAP}"
                r"(?:{MODAL})(?:{GAP}{DOING})?{GAP}"
            ),
            "",
        ),
        (r"{CLAUSE}{POSSIBLE}{GAP}", ""),
        (r"{CLAUSE}{MAYI}{GAP}(?:{ASKYOU}){GAP}for\s+", "give me "),
        (r"{CLAUSE}{MAYI}{GAP}(?:please )?(?:get|have) (?:{SOMEONE}) to\s+", ""),
        (r"{CLAUSE}{MAYI}{GAP}(?:request|beg)(?: (?:that|to)\b(?: you)?)\s+", ""),
        (
            (
                r"{CLAUSE}{MAYI}{GAP}(?:request|beg|beg for|trouble you for|bother you for)\s+(?={DETERMINER}\b"
                r"|[\w'’-]+)"
            ),
            "give me ",
        ),
        (r"{CLAUSE}{MAYI}{GAP}(?:be so (?:bold|free|cheeky) as to |venture to )?(?:{ASKYOU})[,:]?\s+", ""),
        (r"{CLAUSE}{MAYI}{GAP}{GET}\s+(?={DETERMINER}\b)", "give me "),
        (r"{CLAUSE}{MAYI}{GAP}{HEAR}(?: from you)?(?:,? (?:about|of))?,?\s+", ""),
        (r"{CLAUSE}(?:{WISH}|{LOVE}),?{GAP}(?:to (?:{GET})|for|of)\s+(?={DETERMINER}\b)", "give me "),
        (r"{CLAUSE}(?:{WISH}|{LOVE}),?{GAP}(?:to (?:{HEAR}|{ASKYOU})(?: from you)?|about|that),?\s+", ""),
        (
            (
                r"{CLAUSE}(?:i|we)(?:{OUGHT})(?:{GAP}?\b(?:like|want|have|wish|need))?(?: to)?{GAP}?\s*\b(?:ask"
                r"|request|beg)(?: (?:you|someone))?(?:{GAP}(?:to|that you|if you could|whether you could))"
                r"(?: {DOING})?{GAP}"
            ),
            "",
        ),
        (
            (
                r"{CLAUSE}(?:i|we)(?:{OUGHT}){GAP}?\s*\b(?:humbly |kindly |respectfully )*(?:request|beg|ask for"
                r"|beg for)(?: from you)?\s+(?={DETERMINER}\b)"
            ),
            "give me ",
        ),
        (r"{CLAUSE}(?:permit|allow) me to (?:ask|enquire|request)(?: you)?(?: (?:to|for))?\s+", ""),
        (
            (
                r"{CLAUSE}(?:i|we)(?:['’]d| would)(?:{GAP}?)\b(?:appreciate|value|welcome|love)(?: having| getting"
                r"| seeing)?\s+(?={DETERMINER}\b)"
            ),
            "give me ",
        ),
        (r"{CLAUSE}{NICE},?{GAP}(?:to (?:have|get|see|receive)|with)\s+(?={DETERMINER}\b)", "give me "),
        (r"{CLAUSE}{NICE},?{GAP}to (?:{HEAR})\s+", ""),
        (
            (
                r"{CLAUSE}(?:please )?(?:{BEING}|do me (?:a|the) (?:\w+ )?(?:favou?r|kindness)(?: and|,)"
                r"|see if you can|do|go ahead and|feel free to)\s+(?=[a-z])"
            ),
            "",
        ),
        (
            (
                r"{CLAUSE}(?:do you )?(?:happen to |by any chance )?(?:know|have any (?:idea"
                r"|clue)),?\s+(?={QUESTION}\b)"
            ),
            "",
        ),
        (r"{CLAUSE}(?:do (?:you|u) )(?:happen to |by any chance )?know,?\s+(?={QUESTION}\b)", ""),
        (
            (
                r"{CLAUSE}(?:(?:any(?:one|body)?|some(?:one|body)|you|u) )?(?:got )?(?:any )?(?:idea|clue|know)"
                r"(?: of)?,?\s+(?={QUESTION}\b)"
            ),
            "",
        ),
        (
            (
                r"{CLAUSE}help me(?: to)?\s+(?=(?:check|find|get|look|work|write|draft|calculate|see|know|make"
                r"|create|send|book|compare|list|translate)\b)"
            ),
            "",
        ),
        (
            (
                r"{CLAUSE}help me (?:out )?with\s+(?=(?:the|a) (?:\w+ )?(?:names?|list|numbers?|link|details|address"
                r"|status|dates?|figures?|summary|contact)\b)"
            ),
            "give me ",
        ),
        (r"(?:^|(?<=[.!?]\s))(?:to|that you)\s+(?=[a-z])", ""),
        (
            (
                r"{CLAUSE}(?:the (?:whole )?[\w'’-]+ (?:sends? its love and )?)?asks? whether\s+(?:{SOMEONE})"
                r"(?:['’]d| would| could)?\s+"
            ),
            "",
        ),
    )
)
MAY_YOU: Final = _bounded(r"(?<!\S){MAYYOU}{GAP}")
"""Only where no question word stands before it in the clause: "when could you come"."""
BEFORE_YOU: Final = re.compile(
    r"\b(?:who|whose|what|which|when|where|why|how|that|time|as)\b[^,.;:!?]*$", re.IGNORECASE
)
FROM_YOU: Final = r"(?<=\w) (?:from|of) you(?=[\s,.;:!?]*$)"
FOR_ME: Final = (
    r"(?<![, ])[, ]++(?:mate|bro|bruv|dude|yaar|fam|pal|legend|guys|luv|m8|sis|boss|bhai|sef|innit|man|would "
    r"(?:you|ya)|will you|can you|could you)(?=[.!?]*$)"
)
