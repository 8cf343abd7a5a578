"""Words by which people and models say that something is decided, or did not work, in a dozen languages."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["tells_decision", "tells_failure", "tells_rule"]

# Folded. Those of scripts without blanks, and stems that end in "~", stand anywhere in a word; the others are whole.
_DECISIONS: Final = (
    "decided decide decision decisions chose chosen choose agreed settled instead must never always prefer prefers "
    "preferred approved rejected ruled require required requires don't switch "
    "switched revert reverted confirmed therefore deadline entschied~ entschloss~ beschloss~ "
    "stattdessen sollen soll muss müssen niemals immer bevorzug~ décid~ choisi~ plutôt jamais toujours doit "
    "decidi~ elegi~ debe siempre nunca escolh~ deve sempre mai scelto gekozen besloten moet altijd nooit решил~ решен~ "
    "выбра~ нужно всегда никогда вместо zdecydow~ wybra~ musi zawsze nigdy karar"
)
_DECISIONS_UNSPACED: Final = (
    "决定 決定 决策 改用 采用 採用 选择 選擇 选用 必须 必須 不要 务必 应该 應該 统一 保留 优先 确认 確認 同意 批准 "
    "することに 選び 選択 べき 必ず 使わない やめ 採択 결정 선택 반드시 대신 합의"
)
_RULES: Final = (
    "never always must mustn't only except don't nur niemals nie immer muss müssen stets ausschließlich jamais "
    "toujours uniquement seulement nunca siempre sólo solamente sempre mai solo soltanto altijd nooit alleen никогда "
    "всегда только нельзя nigdy zawsze tylko asla daima sadece أبدا دائما فقط"
)
_RULES_PHRASES: Final = (
    "do not",
    "from now on",
    "ab jetzt",
    "auf keinen fall",
    "à partir de maintenant",
    "a partir de ahora",
)
_RULES_UNSPACED: Final = (
    "不要 不得 绝对 絕對 务必 務必 必须 必須 禁止 一律 始终 始終 永远 永遠 只能 只用 今后 以后都 "
    "絶対 必ず ないで のみ だけ 常に 今後 절대 반드시 항상 마세요 말고 말아 앞으로"
)
# What speaks of a failure that is over, or only counts them.
_MENDED: Final = (
    "fixed resolved mended solved mitigated repaired behoben gelöst repariert corrigé résolu corregido resuelto "
    "corrigido resolvido risolto corretto opgelost исправлен~ устранен~ naprawion~ fehlerrate fehlerquote"
)
_MENDED_PHRASES: Final = ("error rate", "failure rate", "تم الإصلاح")
_MENDED_UNSPACED: Final = (
    "已修复 已修正 已解决 修复了 中修复 错误率 錯誤率 修正済み 解決しました エラー率 수정했 해결했 오류율"
)
_FAILURES: Final = (
    "fail~ error errors exception exceptions traceback crash~ broke broken timeout timeouts refused denied forbidden "
    "unauthorized unreachable unable cannot can't couldn't didn't doesn't won't impossible rejected missing invalid "
    "aborted rolled regressed panic segfault oom deadlock fehlgeschl~ fehler~ fehlt kaputt scheiter~ abgebrochen "
    "échou~ échec erreur~ impossible interdit falló falla fallo errores fracas~ falhou falha erro erros errore "
    "fallit~ mislukt fout fouten ошибк~ сбой упал~ удалось невозможно błąd błęd~ nieuda~ hata başarısız"
)
_FAILURES_PHRASES: Final = (
    "timed out",
    "not found",
    "no such",
    "did not work",
    "does not work",
    "exit code",
    "non-zero",
)
_FAILURES_UNSPACED: Final = (
    "失败 失敗 错误 錯誤 报错 報錯 异常 異常 无法 無法 不行 超时 超時 崩溃 崩潰 拒绝 拒絕 找不到 不存在 没有成功 "
    "エラー できな できませ 例外 タイムアウト 落ち 壊れ 拒否 見つから 실패 오류 에러 예외 불가 없음 거부"
)


def _pattern(words: str, unspaced: str, phrases: tuple[str, ...] = ()) -> re.Pattern[str]:
    # Neighbours that are letters of these alphabets; a whole word class would make the pattern slow to compile.
    letter = "[a-zà-ÿœа-яёğışąćęłńóśźż']"
    stems = [re.escape(one[:-1]) for one in words.split() if one.endswith("~")]
    whole = "|".join(re.escape(one) for one in words.split() if not one.endswith("~"))
    spaced = "|".join([*stems, f"(?:{whole})(?!{letter})"])
    inside = "|".join(map(re.escape, (*unspaced.split(), *phrases)))
    return re.compile(f"(?<!{letter})(?:{spaced})|{inside}")


_DECISION: Final = _pattern(_DECISIONS, _DECISIONS_UNSPACED)
_FAILURE: Final = _pattern(_FAILURES, _FAILURES_UNSPACED, _FAILURES_PHRASES)
_RULE: Final = _pattern(_RULES, _RULES_UNSPACED, _RULES_PHRASES)
_OVER: Final = _pattern(_MENDED, _MENDED_UNSPACED, _MENDED_PHRASES)


def tells_decision(folded: str) -> bool:
    """Whether a sentence, folded, tells what is, or is not, to be done, or why."""
    return _DECISION.search(folded) is not None


def tells_failure(folded: str) -> bool:
    """Whether a sentence, folded, tells that something did not work, and not that it does now."""
    return _FAILURE.search(folded) is not None and _OVER.search(folded) is None


def tells_rule(folded: str) -> bool:
    """Whether a user's sentence, folded, sets a rule: what never, always or only is to be done."""
    return _RULE.search(folded) is not None
