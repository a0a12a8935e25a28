package embed

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// excerptBytes is how much of a bad answer is read for its excerpt.
const excerptBytes = 4096

// secrets returns what must not be shown, in every spelling in which an endpoint may repeat it; longest first.
func secrets(key string, e endpoint) []string {
	var all []string
	add := func(s string) {
		if s == "" {
			return
		}
		escaped, _ := json.Marshal(s) // a string: cannot fail
		inJSON := strings.Trim(string(escaped), `"`)
		all = append(all, s, inJSON, strings.ReplaceAll(s, "/", `\/`), url.QueryEscape(s), url.PathEscape(s))
	}
	add(key)
	add(e.password)
	if e.user != "" || e.password != "" {
		add(base64.StdEncoding.EncodeToString([]byte(e.user + ":" + e.password)))
	}
	if e.password == "" {
		add(e.user) // a bare token
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(all)
}

// mask hides the secrets in a text.
func (c *Client) mask(text string) string {
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// excerpt quotes the beginning of an answer, without secrets.
func (c *Client) excerpt(body []byte) string {
	cut := len(body) >= excerptBytes
	text := c.mask(string(body[:min(len(body), excerptBytes)]))
	if cut && len(c.secrets) > 0 { // the last bytes may be the beginning of one
		text = text[:max(0, len(text)-len(c.secrets[0]))]
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "no text"
	}
	return strconv.Quote(shorten(text))
}
