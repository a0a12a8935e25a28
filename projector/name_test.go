package projector

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
)

func TestNormalizeName(t *testing.T) {
	tests := []struct{ why, name, want string }{
		{"case", "Electrons", "electrons"},
		{"runs of space", "  Asha \t\n Rao ", "asha rao"},
		{"hyphen", "Asha-Rao", "asha rao"},
		{"slash", "TCP/IP", "tcp ip"},
		{"back-slash", `C:\Temp`, "c temp"},
		{"back-tick", "`kith`", "kith"},
		{"straight quote", "O'Brien", "o brien"},
		{"typographic quote", "O’Brien", "o brien"},
		{"stand-alone accent as quote", "O´Brien", "o brien"},
		{"double quotes", `"Salt" “Road”`, "salt road"},
		{"run of mixed punctuation", "a - , - b", "a b"},
		{"underscore", "snake_case", "snake case"},
		{"dots", "Dr. A. P. J.", "dr a p j"},
		{"plus is a symbol", "C++", "c++"},
		{"hash ends a word", "C#", "c#"},
		{"hash before a comma", "F#, OCaml", "f# ocaml"},
		{"hash begins a word", "#work", "work"},
		{"hash between words", "issue#5", "issue 5"},
		{"hash alone among words", "a # b", "a b"},
		{"emoji", "💥", "💥"},
		{"emoji with and without variation selector", "☕️", "☕"},
		{"zero-width joiner holds an emoji together", "👩‍🚀", "👩‍🚀"},
		{"NFKC ligature", "ﬁne", "fine"},
		{"NFKC full width", "Ｆｏｏ", "foo"},
		{"NFKC superscript", "x²", "x2"},
		{"NFKC Roman numeral", "Ⅳ", "iv"},
		{"NFKC ideographic space", "東京　タワー", "東京 タワー"},
		{"half-width kana with voice mark", "ｶﾞ", "ガ"},
		{"composed", "Zürich", "zürich"},
		{"decomposed", "Zu\u0308rich", "zürich"},
		{"full fold of sharp s", "Straße", "strasse"},
		{"capital sharp s", "STRAẞE", "strasse"},
		{"final sigma", "ΣΊΣΥΦΟΣ", "σίσυφοσ"},
		{"dotted capital I", "İzmir", "i\u0307zmir"},
		{"Cherokee capitals", "\u13e3\u13b3\u13a9", "\u13e3\u13b3\u13a9"},
		{"Cherokee small letters", "\uabb3\uab83\uab79", "\u13e3\u13b3\u13a9"},
		{"CJK without spaces", "東京都", "東京都"},
		{"CJK punctuation", "「東京」、大阪。", "東京 大阪"},
		{"katakana middle dot", "ジョン・スミス", "ジョン スミス"},
		{"Hebrew", "שלום", "שלום"},
		{"Hebrew with direction marks", "\u200fשלום\u200e", "שלום"},
		{"Arabic comma", "علي، حسن", "علي حسن"},
		{"Devanagari keeps its vowel signs", "देविका", "देविका"},
		{"soft hyphen", "data\u00adbase", "database"},
		{"byte order mark", "\ufeffkith", "kith"},
		{"only stop words", "The The", "the the"},
		{"only punctuation", "?!", "?!"},
		{"only punctuation, spaced and wide", " ？ ！ ", "? !"},
		{"punctuation and control", "!\x01!", "! !"},
		{"empty", "", ""},
		{"only space", " \t\u3000", ""},
		{"only control", "\x01\x7f", ""},
		{"only a direction mark", "\u200f", ""},
	}
	for _, tt := range tests {
		if got := NormalizeName(tt.name); got != tt.want {
			t.Errorf("%s: NormalizeName(%q) = %q: want %q", tt.why, tt.name, got, tt.want)
		}
	}
}

// A normalised name is its own normal form, and nothing in it needs more than an id may have.
func checkNormal(t fataler, name string) {
	t.Helper()
	got := NormalizeName(name)
	if again := NormalizeName(got); again != got {
		t.Fatalf("NormalizeName(%+q) = %+q, of that %+q", name, got, again)
	}
	if id := boundedID(got); got != "" && graphstore.CheckID(id) != nil {
		t.Fatalf("NormalizeName(%+q) = %+q: %v", name, got, graphstore.CheckID(id))
	}
}

func TestNormalizeNameOfEveryRune(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && (unicode.IsGraphic(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			checkNormal(t, string(r))
			checkNormal(t, "a"+string(r)+"b")
		}
	}
}

func TestNormalizeNameOfRandomText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkNormal(t, rapid.String().Draw(t, "name"))
	})
}

func TestDropLegalSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"Acme Inc.": "acme", "Acme, Inc": "acme", "ACME LTD": "acme", "Acme Pty. Ltd.": "acme", "Foo GmbH & Co. KG": "foo",
		"Foo L.L.C.": "foo", "Nestlé S.A.": "nestlé", "Ferrari S.p.A.": "ferrari", "Limited": "limited", "Inc. Inc.": "inc",
		"Blue Spa": "blue spa", "Inca": "inca", "Ltd Edition": "ltd edition", "Acme Ltdx": "acme ltdx", "北京 Ltd": "北京",
	} {
		p := mustNew(t, Config{})
		got, ok := p.entityNamed("organization", name)
		if !ok || got.norm != want || got.id != "organization:"+want {
			t.Errorf("organization %q: %+v: want %q", name, got, want)
		}
		if got, _ := p.entityNamed("product", name); got.norm != NormalizeName(name) {
			t.Errorf("product %q lost a suffix: %+v", name, got)
		}
	}
}

func TestEntityType(t *testing.T) {
	p := mustNew(t, Config{})
	for word, want := range map[string]string{
		"person": "person", " Person ": "person", "ORGANIZATION": "organization", "organisation": "organization", "company": "organization",
		"location": "place", "": "thing", "unknown": "thing", "starship": "thing", "thing": "thing", "per son": "thing",
	} {
		got, known := p.entityType(word)
		if got != want || known != (want != "thing" || word == "thing") {
			t.Errorf("entityType(%q) = %s, %v: want %s", word, got, known, want)
		}
	}
	custom := mustNew(t, Config{EntityTypes: []string{"starship", "company"}})
	for word, want := range map[string]string{"starship": "starship", "company": "company", "org": "thing", "person": "thing"} {
		if got, _ := custom.entityType(word); got != want {
			t.Errorf("configured: entityType(%q) = %s: want %s", word, got, want)
		}
	}
}

func TestBoundedID(t *testing.T) {
	fits := strings.Repeat("x", 512)
	if got := boundedID(fits); got != fits {
		t.Errorf("an id of 512 bytes became %q", got)
	}
	a, b := boundedID(strings.Repeat("é", 300)+"a"), boundedID(strings.Repeat("é", 300)+"b")
	for _, id := range []string{a, b} {
		if err := graphstore.CheckID(id); err != nil {
			t.Error(err)
		}
		// 512 less 33 bytes of digest leave 479: 239 letters of two bytes.
		if !strings.HasPrefix(id, strings.Repeat("é", 239)+"~") || len(id) != 478+1+32 {
			t.Errorf("id of %d bytes: %q", len(id), id)
		}
	}
	if a == b {
		t.Error("two names with one beginning share an id")
	}
}
