"""Token counters: how near the estimate is, what never happens to it, and what the exact ones count."""

from __future__ import annotations

import base64
import builtins
import hashlib
import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.errors import CallerError, MissingExtra
from trimtab.tokens import BLOCK, BUILTIN_COUNTERS, Estimate, Exact
from trimtab.types import TokenCounter

ENGLISH = """The harbour froze twice that winter, and on both occasions the ferry company sent its passengers home
with a voucher and an apology. Nobody complained, because the town had seen worse: in the spring of the flood, people
rowed to the bakery. What annoyed the mayor was not the ice but the paperwork. Every cancelled crossing needed a
form, each form needed two signatures, and the only person allowed to sign lived on the other side of the water. "We
could simply walk across," suggested the youngest member of the council, and for once the minutes record that
everyone agreed.
"""

PYTHON = '''
class Shelf:
    """Books by author, in the order in which they were bought."""

    def __init__(self, limit: int = 40) -> None:
        self._books: dict[str, list[Book]] = {}
        self.limit = limit

    def add(self, book: Book) -> bool:
        if sum(len(row) for row in self._books.values()) >= self.limit:
            return False
        self._books.setdefault(book.author, []).append(book)
        return True

    def find(self, title: str) -> Book | None:
        wanted = title.lower().strip()
        for row in self._books.values():
            for book in row:
                if book.title.lower() == wanted:
                    return book
        return None
'''

ROWS = [
    {
        "id": hashlib.md5(str(i).encode()).hexdigest()[:12],
        "name": f"{['north', 'silver', 'garden', 'copper'][i % 4]} {['valve', 'lantern', 'ledger'][i % 3]}",
        "price": round(3.7 * i + 0.45, 2),
        "url": f"https://shop.example.com/items/{i * 37}?ref=list",
        "tags": ["sale", "new"] if i % 2 else [],
        "created_at": f"2025-{i % 12 + 1:02d}-{i % 28 + 1:02d}T08:{i % 60:02d}:11Z",
        "in_stock": i % 3 == 0,
        "parent": None,
    }
    for i in range(12)
]

LOG = "\n".join(
    f"2025-11-{i % 28 + 1:02d} 06:{i % 60:02d}:{i * 7 % 60:02d},{i * 37 % 1000:03d} {['INFO', 'WARN', 'ERROR'][i % 3]} "
    f"[worker-{i % 5}] com.example.store.OrderService - order {i * 7919} "
    f"{['accepted', 'delayed by upstream', 'failed: connection reset'][i % 3]} after {i * 13 % 900}ms "
    f"from 10.0.{i}.{i * 3}"
    for i in range(20)
)

CHINESE = """港口那年冬天结了两次冰，轮渡公司每次都给乘客退票并道歉。没有人抱怨，因为镇上的人见过更糟的情况：
春天发大水的时候，大家划着船去买面包。让镇长头疼的不是冰，而是文件。每取消一班船就要填一张表，每张表需要两个人签字，
而唯一有权签字的人住在河对岸。会议上最年轻的委员建议说：“我们可以直接走过去。”根据记录，这一次所有人都同意了。
系统日志显示数据库连接超时，请检查网络配置后重试。
"""

TRADITIONAL = """港口那年冬天結了兩次冰，渡輪公司每次都退票並向乘客道歉。沒有人抱怨，因為鎮上的人見過更糟的情況：
春天發大水的時候，大家划著船去買麵包。讓鎮長頭痛的不是冰，而是文件。每取消一班船就要填一張表，每張表需要兩個人簽名，
而唯一有權簽名的人住在對岸。
"""

JAPANESE = """その冬、港は二度凍りました。フェリー会社はそのたびに乗客へ払い戻しをして謝りましたが、
文句を言う人はいませんでした。町の人々はもっとひどいことを経験していたからです。春の洪水のときには、
みんなボートでパン屋へ行きました。町長を悩ませたのは氷ではなく書類でした。欠航するたびに用紙が一枚必要で、
それぞれに二人の署名が必要だったのです。データベースへの接続がタイムアウトしました。
設定を確認してもう一度お試しください。
"""

KOREAN = """그해 겨울 항구는 두 번이나 얼어붙었고, 여객선 회사는 그때마다 승객들에게 표를 환불해 주고 사과했다.
불평하는 사람은 없었다. 마을 사람들은 더 심한 일도 겪었기 때문이다. 봄에 홍수가 났을 때는 모두 배를 저어 빵집에 갔다.
시장을 괴롭힌 것은 얼음이 아니라 서류였다. 운항을 취소할 때마다 서류가 한 장 필요했고, 서류마다 두 사람의 서명이
필요했다. 데이터베이스 연결 시간이 초과되었습니다. 설정을 확인하세요.
"""

THAI = """ฤดูหนาวปีนั้นท่าเรือกลายเป็นน้ำแข็งถึงสองครั้ง บริษัทเรือข้ามฟากคืนเงินให้ผู้โดยสารและขอโทษทุกครั้ง
ไม่มีใครบ่น เพราะชาวเมืองเคยเจอเรื่องที่แย่กว่านี้ ตอนน้ำท่วมในฤดูใบไม้ผลิ ทุกคนต้องพายเรือไปซื้อขนมปัง
สิ่งที่ทำให้นายกเทศมนตรีปวดหัวไม่ใช่น้ำแข็ง แต่เป็นเอกสาร การเชื่อมต่อฐานข้อมูลหมดเวลา
กรุณาตรวจสอบการตั้งค่าเครือข่ายแล้วลองใหม่อีกครั้ง
"""

RUSSIAN = """В ту зиму гавань замерзала дважды, и оба раза паромная компания возвращала пассажирам деньги и
извинялась. Никто не жаловался: город видел и не такое. Весной, во время наводнения, за хлебом ездили на лодках. Мэра
раздражал не лёд, а бумаги. Для каждого отменённого рейса нужна была форма, на каждой форме две подписи, а
единственный человек, который имел право подписывать, жил на другом берегу. Не удалось подключиться к базе данных,
проверьте настройки сети.
"""

GREEK = """Εκείνον τον χειμώνα το λιμάνι πάγωσε δύο φορές και η εταιρεία των πλοίων επέστρεψε τα χρήματα στους
επιβάτες και ζήτησε συγγνώμη. Κανείς δεν παραπονέθηκε, γιατί η πόλη είχε δει χειρότερα: την άνοιξη της πλημμύρας όλοι
πήγαιναν στον φούρνο με βάρκα. Αυτό που ενοχλούσε τον δήμαρχο δεν ήταν ο πάγος αλλά τα χαρτιά. Η σύνδεση με τη βάση
δεδομένων απέτυχε.
"""

ARABIC = """تجمد الميناء مرتين في ذلك الشتاء، وفي كل مرة أعادت شركة العبارات ثمن التذاكر إلى الركاب واعتذرت لهم. لم
يشتك أحد، لأن أهل المدينة رأوا ما هو أسوأ: في ربيع الفيضان ذهب الجميع إلى المخبز بالقوارب. لم يكن الجليد هو ما أزعج
رئيس البلدية بل الأوراق. انتهت مهلة الاتصال بقاعدة البيانات، يرجى التحقق من إعدادات الشبكة والمحاولة مرة أخرى.
"""

HINDI = """उस सर्दी में बंदरगाह दो बार जम गया और दोनों बार नाव कंपनी ने यात्रियों के पैसे लौटाए और माफ़ी माँगी। किसी
ने शिकायत नहीं की, क्योंकि शहर ने इससे भी बुरे दिन देखे थे: बाढ़ वाले वसंत में लोग नाव से रोटी लेने जाते थे। मेयर को
बर्फ़ से नहीं, काग़ज़ी काम से परेशानी थी। डेटाबेस से कनेक्शन का समय समाप्त हो गया, कृपया नेटवर्क सेटिंग जाँचें और फिर
से प्रयास करें।
"""

FRENCH = """Cet hiver-là, le port gela deux fois, et à chaque fois la compagnie remboursa les passagers en présentant
ses excuses. Personne ne se plaignit, car la ville avait vu pire : au printemps de l'inondation, on allait à la
boulangerie en barque. Ce qui agaçait le maire, ce n'était pas la glace mais la paperasse. Échec de la connexion à la
base de données, vérifiez le réseau.
"""

NOISE = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(30))

URLS = "\n".join(
    f"https://{['docs', 'api', 'www'][i % 3]}.example.org/{['guide', 'reference', 'blog'][i % 3]}/"
    f"{['getting-started', 'release-notes', 'error_codes'][i % 3]}/{2019 + i % 7}?page={i}&sort=date#section-{i * 3}"
    for i in range(15)
)

TABLE = "\n".join(
    f"{['alpha', 'bravo-two', 'charlie', 'd'][i % 4]:<24}{i * 9173:>14}{i * 1.37:>12.3f}    "
    f"{['running', 'stopped'][i % 2]:<16}{['eu-west', 'us-east', 'ap-south'][i % 3]:>20}"
    for i in range(25)
)

# Name, text, the tokens that o200k takes for it, and the estimate of version 1.
SAMPLES: list[tuple[str, str, int, int]] = [
    ("English prose", ENGLISH, 120, 135),
    ("Python", PYTHON, 160, 173),
    ("compact JSON", json.dumps(ROWS, separators=(",", ":")), 809, 893),
    ("indented JSON", json.dumps(ROWS, indent=2), 1145, 1219),
    ("log", LOG, 930, 1105),
    ("Chinese", CHINESE, 146, 164),
    ("traditional Chinese", TRADITIONAL, 115, 106),
    ("Japanese", JAPANESE, 150, 153),
    ("Korean", KOREAN, 141, 147),
    ("Thai", THAI, 140, 152),
    ("Russian", RUSSIAN, 130, 158),
    ("Greek", GREEK, 131, 139),
    ("Arabic", ARABIC, 110, 114),
    ("Hindi", HINDI, 119, 128),
    ("French", FRENCH, 101, 96),
    ("hex", NOISE.hex(), 1084, 1177),
    ("base64", base64.b64encode(NOISE).decode(), 884, 955),
    ("urls", URLS, 354, 338),
    ("padded table", TABLE, 424, 453),
]

NAMES = [name for name, *_ in SAMPLES]

# Every class of the estimate, and what is awkward anywhere.
TEXTS = st.text(
    st.one_of(
        st.sampled_from(
            " \t\n\r\0abkz09AZ\"'.,;:/_-=#*(){}<>|\\\u00e9\u1ea1\u0301\u03b1\u0436\u05d0\u0627\u0915\u0e01"
        ),
        st.sampled_from("\u2500\u2014\u3002\u3042\u4e2d\ud55c\u1200\ud800\udfff\ufffd\U0001f600\U0001f1eb\U00020000"),
        st.characters(),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def o200k() -> Exact:
    """The exact counter, where its library is installed."""
    pytest.importorskip("splintr")
    return Exact("o200k")


@pytest.mark.parametrize(("name", "text", "true", "estimate"), SAMPLES, ids=NAMES)
def test_estimate_is_near(name: str, text: str, true: int, estimate: int) -> None:
    """On common kinds of text the estimate is between 0.9 and 1.25 times what o200k takes."""
    assert 0.9 <= Estimate().count(text) / true <= 1.25


@pytest.mark.parametrize(("name", "text", "true", "estimate"), SAMPLES, ids=NAMES)
def test_version_pins_every_count(name: str, text: str, true: int, estimate: int) -> None:
    """The same name and version always count the same: another count needs another version."""
    assert (Estimate().name, Estimate().version) == ("estimate", "1")
    assert Estimate().count(text) == estimate


@pytest.mark.parametrize(("name", "text", "true", "estimate"), SAMPLES, ids=NAMES)
def test_true_counts_are_true(o200k: Exact, name: str, text: str, true: int, estimate: int) -> None:
    """The counts that the estimate is held against are those of the library."""
    assert o200k.count(text) == true


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_estimate_never_falls(text: str, more: str) -> None:
    """Text added at the end never lowers the estimate, and adds at most what it counts alone and 4 at the seam."""
    count = Estimate().count
    assert count(text) <= count(text + more) <= count(text) + count(more) + 4


@settings(deadline=None)
@given(TEXTS)
def test_estimate_is_nothing_only_for_nothing(text: str) -> None:
    """Only the empty text has no tokens; no character takes more than 4."""
    assert (Estimate().count(text) == 0) == (text == "")
    assert Estimate().count(text) <= 4 * len(text)


@pytest.mark.parametrize("ch", [" ", "\n", "a", '"', "-", "\u4e2d", "\u0e01", "\U0001f600", "\ud800", "\0"])
def test_one_character_repeated_still_counts(ch: str) -> None:
    """A run of one character costs something however long it is: no text is free."""
    count = Estimate().count
    assert count(ch * 10_000) >= 2 * count(ch * 2_000) > 0


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(-40, 40))
def test_blocks_change_no_count(parts: list[str], offset: int) -> None:
    """A text above the block size counts as if read in one go, wherever the block ends."""
    text = "x" * (BLOCK + offset) + "".join(parts)
    whole = Estimate().count(text)
    # Letters cost the same each, so the same end moved well inside a block must cost the same more.
    short = Estimate().count("x" * 200 + "".join(parts))
    run = Estimate().count("x" * (BLOCK + offset)) - Estimate().count("x" * 200)
    assert abs(whole - short - run) <= 1


def test_built_in_counters_are_named_as_the_policy_names_them(o200k: Exact) -> None:
    """Each built-in counter goes by its key, keeps the protocol, and says what decides its counts."""
    assert sorted(BUILTIN_COUNTERS) == ["cl100k", "estimate", "o200k"]
    for name, factory in BUILTIN_COUNTERS.items():
        counter = factory()
        assert isinstance(counter, TokenCounter)
        assert counter.name == name
        assert counter.count("") == 0
    assert o200k.version.startswith("o200k_base splintr-rs ")


def test_exact_reads_special_tokens_as_text(o200k: Exact) -> None:
    """A special token spelt out in a tool's output is the seven ordinary tokens that it is."""
    assert o200k.count("<|endoftext|>") == 7


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00"])
def test_exact_counts_lone_surrogates_as_replaced(o200k: Exact, text: str) -> None:
    """A surrogate counts as the U+FFFD that stands in its place in the prompt."""
    shown = "".join("\ufffd" if "\ud800" <= ch <= "\udfff" else ch for ch in text)
    assert o200k.count(text) == o200k.count(shown)


@pytest.mark.parametrize("name", ["o200k", "cl100k"])
@pytest.mark.parametrize("unit", [ENGLISH, PYTHON, json.dumps(ROWS, indent=2), LOG + "\n", "no newline at all "])
def test_exact_counts_long_texts_whole(monkeypatch: pytest.MonkeyPatch, name: str, unit: str) -> None:
    """A long text is encoded in pieces, and counts as if it were not."""
    pytest.importorskip("splintr")
    counter = Exact(name)
    text = unit * 12
    whole = counter.count(text)
    for size in (1, 50, 777):
        monkeypatch.setattr("trimtab.tokens.PIECE", size)
        assert counter.count(text) == whole


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without splintr-rs an exact counter says what to install; the estimate does not need it."""
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "splintr":
            raise ModuleNotFoundError("No module named 'splintr'", name="splintr")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "splintr", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"pip install 'trimtab\[tokens\]'") as caught:
        Exact("o200k")
    assert caught.value.extra == "trimtab[tokens]"
    assert BUILTIN_COUNTERS["estimate"]().count("still here") > 0


def test_unknown_vocabulary_names_the_known_ones() -> None:
    """A vocabulary that is not there is the caller's error and lists those that are."""
    with pytest.raises(CallerError, match="cl100k, o200k"):
        Exact("p50k")
