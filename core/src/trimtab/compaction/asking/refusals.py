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

# What a summary of some work names and a refusal does not: two words with a digit, or with marks as in code and urls.
_NAMED: Final = re.compile("[^ \t\r\n]{0,40}(?:[0-9_]|://|[a-z]/[a-z]|[a-z]\\.[a-z])[^ \t\r\n]*")
_LEAST_NAMED: Final = 2

_GIVEN: Final = "(?:conversation|chat|content|text|messages?|history|transcript|document|input)(?![a-z])"
_SORRY: Final = "(?:sorry|apologies|my apologies|i apologi[sz]e|unfortunately|regrettably|i regret that)"
_HAVE_NOT: Final = "(?:don't|do not|can't|cannot|didn't|did not|haven't|have not)"
_MY: Final = "(?:any |the |a |access to |actual |previous |prior )"
_NOT: Final = "(?:can't|cannot|can not|could not|couldn't|won't|will not|must|have to|do not|don't)"
_DO: Final = (
    "(?:help|assist|provide|comply|summari|continue with (?:this|that)|create|generate|fulfil|discuss|engage|process|"
    "complete (?:this|that|your)|do (?:this|that)|support|share (?:this|that)|write (?:this|that)|participate)"
)
# Each matches the beginning of a reply, folded.
_REFUSALS: Final = (
    # English
    "(?:i'm|i am|we're|we are) (?:very |really |so |truly )?sorry(?:[,.!;:—–]| (?:but|that|for|about|i|we)(?![a-z]))",
    f"{_SORRY}[,.!;: —–-]+(?:but )?(?:i'm|i am|we're|we are|(?:i|we) {_NOT})(?![a-z])",
    f"(?:i|we) (?:can't|cannot|can not|could not|couldn't|won't|will not|am unable to|am not able to) {_DO}",
    f"(?:i|we) (?:won't|will not) be able to {_DO}",
    f"(?:i'm|we're) (?:not able|unable|not allowed|not comfortable)(?: to)? {_DO}",
    f"(?:i|we) (?:don't|do not) feel comfortable (?:with )?(?:{_DO}|sharing|writing|creating|doing)",
    "(?:i|we) (?:must|have to|need to) (?:respectfully |politely )?(?:decline|refuse)",
    "as an? (?:ai(?:,| (?:language )?(?:model|assistant))|artificial intelligence|large language model)",
    # English, of those who say that they were given nothing
    f"(?:there (?:is|was) |there's |i see )?(?:nothing|no {_GIVEN})(?: history| here| for me)* to (?:be )?summari",
    f"(?:there (?:is|was) )?no {_GIVEN} (?:was|were|is) (?:provided|given|included|shared|attached)",
    f"(?:i|(?:it (?:looks like|seems|appears)(?: that)? )?you) {_HAVE_NOT} [a-z]+ {_MY}*{_GIVEN}",
    f"please (?:provide|share|paste|send|include|give me)(?: me)?(?: with)? (?:the|your|a|some) {_GIVEN}",
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
    # Swedish, Norwegian, Danish, Finnish
    "(?:jag kan tyvärr|tyvärr kan jag|jag är ledsen|förlåt, men jag)(?![a-z])",
    "(?:beklager|(?:det )?(?:jeg kan|kan jeg) (?:dessverre|desværre)|(?:dessverre|desværre) kan jeg)(?![a-z])",
    "(?:valitettavasti (?:en|emme)|pahoittelen|olen pahoillani)(?![a-z])",
    # Czech, Slovak, Hungarian, Romanian, Greek
    "(?:omlouvám se|bohužel (?:vám )?nemohu|je mi líto|prepáčte|ospravedlňujem sa|je mi ľúto)",
    "(?:sajnálom|elnézést|sajnos nem tudok)",
    "(?:îmi pare rău|imi pare rau|ne pare rău)",
    "(?:λυπάμαι|λυπούμαι|δυστυχώς,? δεν μπορώ|συγγνώμη)",
    # Russian, Ukrainian
    "(?:извините|простите|прошу прощения|к сожалению, я не)",
    "(?:я )?не могу (?:помочь|выполнить|предоставить|продолжить|ответить)",
    "(?:вибачте|пробачте|перепрошую|на жаль, я не)",
    # Chinese, Japanese, Korean
    "(?:我)?(?:很|非常|十分|真的)?(?:抱歉|对不起|對不起|不好意思)",
    "我(?:无法|無法|不能|没办法|沒辦法)(?:对[^。\n]{0,20}进行|為|为|帮|幫|提供|协助|協助|继续|繼續|完成|满足|滿足|回答|总结|總結|处理|處理)",
    "作为(?:一个|一名)?(?:ai|人工智能)",
    "(?:我|您|你|这里|這裡)(?:似乎|好像|还|還|目前|并|並)?(?:没有?|沒有?|未)(?:看到|收到|提供|给出|給出|附上)[^。\n]{0,20}(?:对话|對話|内容|內容|文本)",
    "(?:没有|沒有|无|無)(?:任何)?(?:可以?|需要|可供)?(?:总结|總結|摘要)的",
    "[^。\n]{0,8}请您?先?(?:提供|发送|粘贴|分享)[^。\n]{0,12}(?:对话|文本|聊天记录)",
    "(?:大変|誠に)?(?:申し訳|すみません|ごめんなさい|恐れ入りますが)",
    "[^。\n]{0,12}要約[^。\n]{0,8}(?:会話|内容|テキスト|履歴)[^。\n]{0,12}(?:ください|ありません|れていません|見当たりません)",
    "[^。\n]{0,30}(?:お手伝い|お答え|対応|お応え)(?:することは)?(?:でき(?:ません|ない)|いたしかねます)",
    "(?:대단히 |정말 )?(?:죄송|미안)",
    "[^.\n]{0,8}요약(?:할|하실) [^.\n]{0,8}(?:대화|내용|텍스트|기록)[^.\n]{0,16}(?:없습니다|없어요|주세요|주십시오)",
    "[^.\n]{0,30}(?:도와드릴|도와줄|제공할|답변할) 수 없",
    # Thai, Persian, Hebrew, Arabic, Hindi
    "(?:ขออภัย|ขอโทษ|ฉันไม่สามารถ|ผมไม่สามารถ)",
    "(?:متأسفم|متاسفم|ببخشید|پوزش|نمی\u200cتوانم)",
    "(?:אני מצטער|מצטער|סליחה|אני לא יכול)",
    "(?:عذر|أعتذر|آسف|أنا آسف|لا أستطيع|لا يمكنني)",
    "(?:क्षमा करें|मुझे खेद है|माफ़ कीजिए|माफ़ करें)",
)
_REFUSAL: Final = re.compile("|".join(f"(?:{one})" for one in _REFUSALS))


def is_refusal(text: str) -> bool:
    """Whether a reply refuses, or says that it was given nothing, and does nothing else.

    It begins so, is short, names nothing that was worked on, and has no headings or list.
    """
    if len(text) > _LONGEST or len(_LINE.findall(text)) > 1:
        return False
    folded = fold(text.translate(_APOSTROPHES)).lstrip(_PADDING)
    return _REFUSAL.match(folded) is not None and len(_NAMED.findall(folded)) < _LEAST_NAMED
