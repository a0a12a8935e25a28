package vdb

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestTokenize(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{ // want: tokens joined by a blank
		{"empty", "", ""},
		{"only punctuation and symbols", ` .,;:!?-—"'()*^~|/\ 🍕 € `, ""},
		{"only stop words", "The and OF a", ""},
		{"case is folded, full folding of sharp s", "Straße STRASSE", "strasse strasse"},
		{"final sigma folds to sigma", "ΟΔΟΣ οδός", "οδοσ οδόσ"},
		{"composed and decomposed", "caf\u00e9 cafe\u0301", "caf\u00e9 caf\u00e9"},
		{"accents are kept", "café cafe", "café cafe"},
		{"compatibility forms: full width, ligature, half width kana", "Ｃｏｆｆｅｅ ﬁsh ｶﾌｪ", "coffee fish カフ フェ"},
		{"devanagari keeps its vowel signs and the nukta", "कॉफ़ी पी", norm.NFKC.String("कॉफ़ी") + " पी"},
		{"arabic with and without tatweel-free marks", "قَهْوَة", "قَهْوَة"},
		{"han pairs", "喝咖啡", "喝咖 咖啡"},
		{"single han", "茶", "茶"},
		{"katakana with its sound mark is one run", "コーヒー", "コー ーヒ ヒー"},
		{"han and kana mix in one run", "東京へ", "東京 京へ"},
		{"hangul pairs end at the blank", "커피를 마셔", "커피 피를 마셔"},
		{"decomposed hangul is composed first", norm.NFD.String("커피"), "커피"},
		{"thai pairs keep the vowel on its consonant", "ที่นี่", "ที่นี่"},
		{"latin and digits inside han", "iPhone手机2024年", "iphone 手机 2024 年"},
		{"hyphen, slash, underscore and dot separate", "follow-up a/b user_id v1.2", "follow up b user id v1 2"},
		{"apostrophes separate and leave no letter over", "Alice's don’t", "alice don"},
		{"negations and names stay", "Will not, no", "will not no"},
		{"punctuation of an unspaced script separates", "๏ กา๚咖・啡", "กา 咖 啡"},
		{"joiners and soft hyphens vanish", "می\u200cخواهم co\u00adffee", "میخواهم coffee"},
		{"zero width space separates", "red\u200bblue", "red blue"},
		{"direction marks vanish", "\u200fשלום\u200e", "שלום"},
		{"a mark without a base is nothing", " \u0301 x", "x"},
		{"invalid utf-8 separates", "tea\xffpot", "tea pot"},
		{"nul separates", "tea\x00pot", "tea pot"},
		{"query syntax is text", `AND OR NEAR( col:* ^x -y "z`, "near col x y z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Fields(tc.want), Tokenize(tc.text), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Tokenize(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

func TestTokenize_property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		got := Tokenize(text)
		for _, tok := range got {
			if tok == "" || !utf8.ValidString(tok) {
				t.Fatalf("token %q", tok)
			}
			if i := strings.IndexFunc(tok, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }); i >= 0 {
				t.Fatalf("token %q holds a separator", tok)
			}
		}
		if diff := cmp.Diff(got, Tokenize(norm.NFD.String(text)), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("decomposed text has other tokens (-composed +decomposed):\n%s", diff)
		}
	})
}

func BenchmarkTokenize(b *testing.B) {
	for _, bc := range []struct{ name, text string }{
		{"english", "Alice moved to Berlin in March and started as a data engineer at Acme, where she leads the ingestion team."},
		{"chinese", "爱丽丝三月搬到柏林,在一家公司做数据工程师,负责数据接入团队,每天早上喝一杯咖啡。"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(int64(len(bc.text)))
			for b.Loop() {
				Tokenize(bc.text)
			}
		})
	}
}
