"""Redaction: what must go, what looks alike and must stay, and what holds for any text at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.text import MODEL_CATEGORIES, PiiCategory
from rearview.language.pii import MAX_DEPTH, PatternRedactor
from rearview.ports.redactor import PayloadDepthError, plain_name

redactor = PatternRedactor()

GITHUB_TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

HIDDEN = [
    ("电话13812345678谢谢", "电话[PHONE]谢谢"),
    ("我的手机号是139-1234-5678。", "我的手机号是[PHONE]。"),
    ("手机 138 1234 5678", "手机 [PHONE]"),
    ("从13812345678换成13912345678了", "从[PHONE]换成[PHONE]了"),
    ("微信同号:13812345678", "微信同号:[PHONE]"),
    ("我是13812345678的机主", "我是[PHONE]的机主"),
    ("打+86 13812345678找我", "打[PHONE]找我"),
    ("打+8613812345678找我", "打[PHONE]找我"),
    ("联系电话:010-62345678转8001", "联系电话:[PHONE]转8001"),
    ("座机0571-88886666", "座机[PHONE]"),
    ("(021) 62345678 是公司电话", "[PHONE] 是公司电话"),
    ("客服热线400-820-8820", "客服热线[PHONE]"),
    ("全角号码１３８１２３４５６７８也算", "全角号码[PHONE]也算"),
    ("13812345678和13912345678都行", "[PHONE]和[PHONE]都行"),
    ("电话12345678", "电话[PHONE]"),
    ("我的新号码13712345678,旧的不用了", "我的新号码[PHONE],旧的不用了"),
    ("call me at (415) 555-2671 please", "call me at [PHONE] please"),
    ("My number is 415-555-2671.", "My number is [PHONE]."),
    ("Ring +44 20 7946 0958 tomorrow", "Ring [PHONE] tomorrow"),
    ("+1-415-555-2671 is mine", "[PHONE] is mine"),
    ("phone: 555-2671", "phone: [PHONE]"),
    ("Tel. 07700 900 123", "Tel. [PHONE]"),
    ("415.555.2671 x204", "[PHONE]"),
    ("reach him on 9472 7916", "reach him on [PHONE]"),
    ("我的phone是13812345678", "我的phone是[PHONE]"),
    ("write to jane.doe+news@mail.example.co.uk now", "write to [EMAIL] now"),
    ("邮箱是zhang.san@example.com，谢谢", "邮箱是[EMAIL]，谢谢"),
    ("发到lilei@qq.com就行", "发到[EMAIL]就行"),
    ("<bob@example.org>", "<[EMAIL]>"),
    ("mail a_b-c@x-y.io.", "mail [EMAIL]."),
    ("邮箱ｌｉ＠example.com", "邮箱[EMAIL]"),
    ("身份证11010519491231002X", "身份证[NATIONAL_ID]"),
    ("身份证号是11010519491231002x，别外传", "身份证号是[NATIONAL_ID]，别外传"),
    ("她的号码310104200002290049在这", "她的号码[NATIONAL_ID]在这"),
    ("my SSN is 536-90-4399", "my SSN is [NATIONAL_ID]"),
    ("SSN 536904399", "SSN [NATIONAL_ID]"),
    ("卡号4111111111111111", "卡号[BANK_CARD]"),
    ("my card is 4111 1111 1111 1111 ok", "my card is [BANK_CARD] ok"),
    ("amex 3782 822463 10005", "amex [BANK_CARD]"),
    ("pay with 5555-5555-5555-4444", "pay with [BANK_CARD]"),
    ("银行卡6222021000112233449能用", "银行卡[BANK_CARD]能用"),
    ("工行卡621700001000112239", "工行卡[BANK_CARD]"),
    ("服务器192.168.1.10", "服务器[IP]"),
    ("服务器192.168.1.10挂了", "服务器[IP]挂了"),
    ("ssh to 10.0.0.7, then restart", "ssh to [IP], then restart"),
    ("http://203.0.113.9:8080/x", "http://[IP]:8080/x"),
    ("from 2001:db8::8a2e:370:7334 again", "from [IP] again"),
    ("地址fe80::1可达", "地址[IP]可达"),
    ("connect 2001:0db8:0000:0000:0000:ff00:0042:8329", "connect [IP]"),
    ("IP是8.8.8.8和1.1.1.1", "IP是[IP]和[IP]"),
    ("key sk-proj-abcdEFGH1234567890abcdEFGH", "key [SECRET]"),
    (f"token在这{GITHUB_TOKEN}", "token在这[SECRET]"),
    ("AKIAIOSFODNN7EXAMPLE leaked", "[SECRET] leaked"),
    ("slack xoxb-123456789012-abcdefGHIJKL", "slack [SECRET]"),
    (f"jwt {JWT}", "jwt [SECRET]"),
    ("Authorization: Bearer abcDEF123456ghiJKL789", "Authorization: Bearer [SECRET]"),
    ("api_key=Zx81kLm29QwErTy", "api_key=[SECRET]"),
    ("密钥是ab12cd34ef56", "密钥是[SECRET]"),
    ("阿里云LTAI5tAbCdEfGhIjKlMnOpQr", "阿里云[SECRET]"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----\nbye", "[SECRET]\nbye"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA", "[SECRET]"),
    ("my password is hunter2!", "my password is [PASSWORD]!"),
    ("password: correcthorse", "password: [PASSWORD]"),
    ('"password": "s3cr3t"', '"password": "[PASSWORD]"'),
    ("密码是abc123，记一下", "密码是[PASSWORD]，记一下"),
    ("Wi-Fi密码：88888888", "Wi-Fi密码：[PASSWORD]"),
    ("我把密码改成Qwer1234了", "我把密码改成[PASSWORD]了"),
    ("PIN: 4821", "PIN: [PASSWORD]"),
    ("postgres://app:p4ss-w0rd@db/main", "postgres://app:[PASSWORD]@db/main"),
    ("postgres://app:s3cret@db.example.com/main", "postgres://app:[PASSWORD]@db.example.com/main"),
    ("password: li@example.com,x1", "password: [PASSWORD]"),
    ("+8613812345678@qq.com", "[EMAIL]"),
    ("IBAN GB82WEST12345698765432", "IBAN [IBAN]"),
    ("IBAN GB82 WEST 1234 5698 7654 32 please", "IBAN [IBAN] please"),
    ("转到DE89370400440532013000", "转到[IBAN]"),
    ("我的护照号是E12345678", "我的护照号是[PASSPORT]"),
    ("passport number: X1234567", "passport number: [PASSPORT]"),
    ("车牌是京A12345", "车牌是[LICENSE_PLATE]"),
    ("开的是粤B12345D", "开的是[LICENSE_PLATE]"),
    ("沪A·8888K", "[LICENSE_PLATE]"),
    ("license plate 7ABC123", "license plate [LICENSE_PLATE]"),
    ("租了粤B6732挂和苏E 52H7Q", "租了[LICENSE_PLATE]和[LICENSE_PLATE]"),
    ("wifi密码happy2024home，连吧", "wifi密码[PASSWORD]，连吧"),
    ("redis://:s9Kq-72x@cache.internal:6379", "redis://:[PASSWORD]@cache.internal:6379"),
    ("Phone:\n21 284 698 2548", "Phone:\n[PHONE]"),
    ("护照编号为ED5520193", "护照编号为[PASSPORT]"),
    ("电话还是[PHONE_1]，不是13812345678", "电话还是[PHONE_1]，不是[PHONE]"),
]

HIDDEN_BY_POLICY = [
    ("我出生于1990年2月9日", "我出生于[DATE_OF_BIRTH]"),
    ("爷爷1942年10月1日出生", "爷爷[DATE_OF_BIRTH]出生"),
    ("DOB: 05/07/1990, male", "DOB: [DATE_OF_BIRTH], male"),
    ("she was born on 7th of May 1990 in 杭州", "she was born on [DATE_OF_BIRTH] in 杭州"),
    ("快递寄到浙江省杭州市西湖区文三路478号华星大厦12楼，谢谢", "快递寄到[ADDRESS]，谢谢"),
    ("我住在朝阳区建国路93号院5号楼1203室", "我住在[ADDRESS]"),
    ("ship it to 221 Baker Street, London please", "ship it to [ADDRESS] please"),
    ("my address 是 1600 Amphitheatre Pkwy, Mountain View, CA 94043", "my address 是 [ADDRESS]"),
]
KEPT_BY_POLICY = [
    "我的生日快到了",
    "生日是5月7日",
    "会议在2024年1月15日",
    "born in 杭州",
    "2026年3月18日出生率统计",
    "我住在杭州西湖区",
    "走中山路过来",
    "7栋1502室漏水",
    "Main Street is long",
    "see you at 5 on Baker Street",
]
RULES = frozenset(PiiCategory) - MODEL_CATEGORIES

KEPT = [
    "订单A2024-0815什么时候到",
    "订单号是202408151234567890",
    "订单号13812345678",
    "order number 4111111111111111",
    "order 114-3941689-8772232 shipped",
    "运单号621700001000112239",
    "tracking no 9400110200881234567890",
    "SKU-88213-XL",
    "PROJ-1234 is done",
    "timestamp 1700000000",
    "ts=1700000000000 ok",
    "2024-01-15T10:30:00Z",
    "2024-01-15 10:30:00.123456",
    "2024-01-15T10:00:00+08:00",
    "会议在2024年1月15日下午3点",
    "20240115 的日志",
    "call me on 2024-01-15",
    "call 20240115",
    "打电话的时间是2024-01-15 10:30",
    "550e8400-e29b-41d4-a716-446655440000",
    "018f3c2e-7b1a-7c3d-9e4f-123456789012",
    "version 1.2.3.4 is out",
    "v1.2.3.4",
    "版本1.2.3.4发布了",
    "升级到1.2.3.4",
    "nginx-1.2.3.4",
    "Chrome/120.0.0.0 Safari",
    "torch==2.13.0.1",
    "see section 3.2.1.4",
    "1.2.3",
    "999.999.999.999",
    "价格8000元",
    "costs $12,345.67",
    "1,234,567,890 people",
    "预算从8000到12000",
    "score 98.5, rank 12",
    "比分 3-2",
    "概率0.8374628374628",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
    "0x7ffee4c0a8b0",
    "身份证110105194912310021",
    "4111111111111112",
    "card 1234 5678 9012 3456",
    "GB82WEST12345698765431",
    "std::vector<int> a",
    "12:30:45",
    "aa:bb:cc:dd:ee:ff",
    "@lilei 看一下",
    "user@localhost",
    "3 @ 5pm",
    "the password is required",
    "my password is wrong",
    "我忘了密码",
    "密码是什么?",
    "password: required",
    "your token: refresh it",
    "the key is under the mat",
    "sk-learn is a library",
    "passport photo 35mm",
    "我的护照丢了",
    "阿里云B12345集群",
    "云A计划",
    "第12345678号文件",
    "1+1=2",
    "+10000000 points",
    "ISBN 978-7-111-12345-6",
    "他今年25岁,身高180cm",
    "手机卖了3000元",
    "电话打了100000次",
    "my phone cost 120000 yuan",
    "room 415-555",
    "1990-2000",
    "A4纸500张",
    "市值13800000000元",
    "消息id: 6222021000112233449",
    "日志20240115103000",
    "雪花id 6912345678901234560",
    "v13812345678",
    "π=3.14159265358979",
    "坐标116.397428, 39.90923",
    "2024.01.15 10:30",
    "1/2/2024 - 3/4/2024",
    "",
]


@pytest.mark.parametrize(("text", "expected"), HIDDEN, ids=[text for text, _ in HIDDEN])
def test_hides_personal_data(text: str, expected: str) -> None:
    assert redactor.redact(text).text == expected


@pytest.mark.parametrize("text", KEPT)
def test_keeps_lookalikes(text: str) -> None:
    assert redactor.redact(text).text == text


@pytest.mark.parametrize(("text", "expected"), HIDDEN_BY_POLICY)
def test_hides_more_when_a_policy_asks(text: str, expected: str) -> None:
    assert redactor.redact(text, RULES).text == expected
    assert redactor.redact(text).text == text


@pytest.mark.parametrize("text", KEPT_BY_POLICY)
def test_keeps_what_only_looks_like_it(text: str) -> None:
    assert redactor.redact(text, RULES).text == text


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("我叫欧阳晓雯，在杭州云帆科技有限公司上班", ["欧阳晓雯", "杭州云帆科技有限公司"]),
        ("My name is Kevin Marsh and I work for Microsoft.", ["Kevin Marsh", "Microsoft"]),
        ("昨天和王海涛吃饭, then met Barack Obama in Paris", ["王海涛", "Barack Obama"]),
    ],
)
def test_names_go_by_models_and_phrases(text: str, gone: list[str]) -> None:
    redacted = redactor.redact(text, {PiiCategory.PERSON, PiiCategory.ORGANISATION})
    assert [text[span.start : span.end] for span in redacted.spans] == gone
    marked = redactor.redact("[PERSON_1] and [ORGANISATION_2]说", {PiiCategory.PERSON, PiiCategory.ORGANISATION})
    assert marked.spans == ()


def test_names_are_found_in_long_texts() -> None:
    text = "天气很好。" * 900
    assert redactor.redact(f"{text}我叫陈建国。", {PiiCategory.PERSON}).text == f"{text}我叫[PERSON]。"


def test_a_naming_says_what_stands_for_a_value() -> None:
    redacted = redactor.redact("打13812345678", name=lambda category, value: f"<{category}:{len(value)}>")
    assert redacted.text == "打<PHONE:11>"


def test_spans_point_into_the_original() -> None:
    text = "手机13812345678，邮箱li@example.com"
    redacted = redactor.redact(text)
    assert [text[span.start : span.end] for span in redacted.spans] == ["13812345678", "li@example.com"]
    assert redacted.categories == (PiiCategory.PHONE, PiiCategory.EMAIL)


def test_only_the_asked_categories_go() -> None:
    text = "13812345678 li@example.com"
    assert redactor.redact(text, {PiiCategory.EMAIL}).text == "13812345678 [EMAIL]"
    assert redactor.redact(text, ()).text == text


def test_a_value_glued_to_another_is_seen_too() -> None:
    assert redactor.redact("a@b.com13812345678").text.endswith("[PHONE]")


def test_tree_reaches_keys_and_leaves() -> None:
    payload = {
        "13812345678": {"note": ["mail li@example.com", 3, None, True]},
        "订单": "A2024-0815",
        "password": "hunter2",
        "api_key": "whatever",
        "phone": "467 3395",
        "mobile": 13812345678,
        "count": 1700000000,
        "next_page_token": "abc",
    }
    redacted, categories = redactor.redact_tree(payload)
    assert redacted == {
        "[PHONE]": {"note": ["mail [EMAIL]", 3, None, True]},
        "订单": "A2024-0815",
        "password": "[PASSWORD]",
        "api_key": "[SECRET]",
        "phone": "[PHONE]",
        "mobile": "[PHONE]",
        "count": 1700000000,
        "next_page_token": "abc",
    }
    assert set(categories) == {PiiCategory.PHONE, PiiCategory.EMAIL, PiiCategory.PASSWORD, PiiCategory.SECRET}


def test_tree_keeps_entries_whose_keys_become_equal() -> None:
    redacted, _ = redactor.redact_tree({"13812345678": 1, "13912345678": 2})
    assert redacted == {"[PHONE]": 1, "[PHONE] (2)": 2}


def test_tree_is_idempotent() -> None:
    once, _ = redactor.redact_tree({"password": "x9", "a": [{"phone": "467 3395"}], "13812345678": 1})
    again, categories = redactor.redact_tree(once)
    assert (again, categories) == (once, ())


def test_tree_refuses_what_it_cannot_follow() -> None:
    payload: object = "leaf"
    for _ in range(MAX_DEPTH + 2):
        payload = [payload]
    with pytest.raises(PayloadDepthError, match="deeper than"):
        redactor.redact_tree(payload)


FRAGMENTS = st.sampled_from(
    [
        *(text for text, _ in HIDDEN),
        *KEPT,
        *"@.:-+()/ [] x=是号\"'，",
        "13812345678",
        "4111111111111111",
        "a@b.com",
        "1.2.3.4",
        "password",
        "phone",
        "密码",
        "token",
        "[PHONE]",
        "[PHONE_1]",
        "[PASSWORD_2]",
        *(text for text, _ in HIDDEN_BY_POLICY),
        *KEPT_BY_POLICY,
    ]
)


@given(st.lists(FRAGMENTS, max_size=8).map("".join) | st.text(max_size=80))
def test_redaction_is_idempotent(text: str) -> None:
    for naming in (plain_name, lambda category, _: category.numbered(1)):
        once = redactor.redact(text, RULES, naming)
        twice = redactor.redact(once.text, RULES)
        assert twice.text == once.text
        assert twice.spans == ()


@given(st.lists(FRAGMENTS, max_size=6).map("".join) | st.text(max_size=80))
def test_spans_are_ordered_disjoint_and_rebuild_the_text(text: str) -> None:
    redacted = redactor.redact(text)
    rebuilt, done = "", 0
    for span in redacted.spans:
        assert done <= span.start < span.end <= len(text)
        rebuilt += text[done : span.start] + span.category.placeholder
        done = span.end
    assert rebuilt + text[done:] == redacted.text


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        ".",
        "@",
        "1.",
        "a@",
        "1 ",
        "1-",
        "+1",
        "(1",
        ":",
        "a:",
        "1a",
        "a.",
        "/",
        "://a:",
        "sk-",
        "token=",
        "-----BEGIN ",
        "eyJ",
        "ab12 ",
        "路1号",
        "小区1栋",
        "生日1990",
        "1 Abc ",
        "密码1",
    ],
)
@pytest.mark.timeout(20)
def test_hostile_text_is_read_in_linear_time(unit: str) -> None:
    # A quadratic pattern would need minutes for 100 kB and fall to the time-out.
    assert redactor.redact(unit * (100_000 // len(unit)), RULES).text
