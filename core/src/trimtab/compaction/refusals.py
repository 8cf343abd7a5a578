"""How models refuse, in the languages that they answer in."""

from __future__ import annotations

import re
from typing import Final

from trimtab.tables import fold

__all__ = ["is_refusal"]

_LONGEST: Final = 400  # chars of a reply that only refuses
_LINE: Final = re.compile("^[ \t]*(?:[-*+•#]|[0-9]{1,2}[.)]) *[^ \n]", re.MULTILINE)
_PADDING: Final = " \t\r\n\"'*_>“”«»‘’"
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'", "`": "'"})

_DO: Final = (
    "(?:help|assist|provide|comply|summari|continue with (?:this|that)|create|generate|fulfil|discuss|engage|process|"
    "complete (?:this|that|your)|do (?:this|that)|support|share (?:this|that)|write (?:this|that)|participate)"
)
# Each matches the beginning of a reply, folded.
_REFUSALS: Final = (
    # English
    "(?:i'm|i am|we're|we are) (?:very |really |so |truly )?sorry(?![a-z])",
    "(?:sorry|apologies|my apologies|i apologi[sz]e|unfortunately)[,.!;: —–-]+(?:but )?(?:i|we)(?![a-z])",
    f"(?:i|we) (?:can't|cannot|can not|could not|couldn't|won't|will not|am unable to|am not able to) {_DO}",
    f"(?:i'm|we're) (?:not able|unable|not allowed|not comfortable)(?: to)? {_DO}",
    "(?:i|we) (?:must|have to|need to) (?:respectfully |politely )?(?:decline|refuse)",
    "as an? (?:ai|artificial|large) ",
    "(?:this|the|your) (?:request|content|conversation) (?:violates|was (?:blocked|flagged|filtered)|goes against)",
    # German
    "(?:es )?tut mir (?:sehr )?leid",
    "(?:entschuldigung|verzeihung|leider)(?![a-z])[,. ]+(?:aber )?(?:ich kann|kann ich|ich darf|darf ich)",
    "(?:ich kann|dabei kann ich|das kann ich|damit kann ich)(?![a-z])[^.\n]{0,60} nicht(?![a-z])",
    # French
    "(?:je suis )?(?:vraiment )?désolé(?:e|s|es)?(?![a-z])",
    "je ne (?:peux|puis|suis) (?:pas|malheureusement)",
    # Spanish, Portuguese, Italian
    "(?:lo siento|lo lamento|lamento|disculpa|disculpe)(?![a-z])",
    "(?:no puedo|no me es posible) (?:ayudar|asistir|proporcionar|continuar|resumir|cumplir|hacer)",
    "(?:desculpe|me desculpe|sinto muito)(?![a-z])",
    "não (?:posso|consigo) (?:ajudar|fornecer|continuar|resumir|fazer|atender)",
    "(?:mi dispiace|sono spiacente|spiacente)(?![a-z])",
    "non posso (?:aiutar|fornir|continuar|riassumer|far)",
    # Dutch, Polish, Turkish, Vietnamese, Indonesian
    "(?:het spijt me|sorry, (?:maar )?ik kan|ik kan (?:je|u|hier|daar) [^.\n]{0,40} niet(?![a-z]))",
    "(?:przykro mi|przepraszam|niestety nie mogę|nie mogę (?:pomóc|wykonać|podać))",
    "(?:üzgünüm|maalesef|özür dilerim)",
    "(?:xin lỗi|rất tiếc|tôi không thể)",
    "(?:maaf|mohon maaf)[, ]",
    # Russian
    "(?:извините|простите|прошу прощения|к сожалению, я не)",
    "(?:я )?не могу (?:помочь|выполнить|предоставить|продолжить|ответить)",
    # Chinese, Japanese, Korean
    "(?:我)?(?:很|非常|十分|真的)?(?:抱歉|对不起|對不起|不好意思)",
    "我(?:无法|無法|不能|没办法|沒辦法)(?:帮|幫|提供|协助|協助|继续|繼續|完成|满足|滿足|回答|总结|總結|处理|處理)",
    "作为(?:一个|一名)?(?:ai|人工智能)",
    "(?:大変|誠に)?(?:申し訳|すみません|ごめんなさい|恐れ入りますが)",
    "[^。\n]{0,30}(?:お手伝い|お答え|対応|お応え)(?:することは)?(?:でき(?:ません|ない)|いたしかねます)",
    "(?:대단히 |정말 )?(?:죄송|미안)",
    "[^.\n]{0,30}(?:도와드릴|도와줄|제공할|답변할) 수 없",
    # Arabic, Hindi
    "(?:عذر|أعتذر|آسف|أنا آسف|لا أستطيع|لا يمكنني)",
    "(?:क्षमा करें|मुझे खेद है|माफ़ कीजिए|माफ़ करें)",
)
_REFUSAL: Final = re.compile("|".join(f"(?:{one})" for one in _REFUSALS))


def is_refusal(text: str) -> bool:
    """Whether a reply refuses and does nothing else: it begins so, is short, and has no headings or list."""
    if len(text) > _LONGEST or len(_LINE.findall(text)) > 1:
        return False
    return _REFUSAL.match(fold(text.translate(_APOSTROPHES)).lstrip(_PADDING)) is not None
