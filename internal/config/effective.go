package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Setting is one value in force and where it came from.
type Setting struct {
	Flag   string // command-line name without dashes
	Env    string
	Value  string // secrets masked
	Source string // "flag", "environment", "file" or "default"
}

// Effective lists the settings of the configuration in the order of the struct. Unset optional settings have an empty
// value; the caller that knows the packages' defaults fills them.
func Effective(ctx *kong.Context) []Setting {
	onLine, fromFile := sources(ctx)
	var all []Setting
	for _, f := range ctx.Model.Flags {
		if f.Name == "help" {
			continue
		}
		s := Setting{Flag: f.Name, Value: display(f), Source: "default"}
		if len(f.Envs) > 0 {
			s.Env = f.Envs[0]
		}
		switch {
		case slices.Contains(onLine, f.Name):
			s.Source = "flag"
		case s.Env != "" && isSet(s.Env):
			s.Source = "environment"
		case slices.Contains(fromFile, f.Name):
			s.Source = "file"
		}
		all = append(all, s)
	}
	return all
}

func isSet(env string) bool {
	_, ok := os.LookupEnv(env)
	return ok
}

func sources(ctx *kong.Context) (onLine, fromFile []string) {
	for _, p := range ctx.Path {
		switch {
		case p.Flag == nil:
		case p.Resolved:
			fromFile = append(fromFile, p.Flag.Name)
		default:
			onLine = append(onLine, p.Flag.Name)
		}
	}
	return onLine, fromFile
}

// display writes a flag's value as it could be typed, secrets masked.
func display(f *kong.Flag) string {
	v := f.Target
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	text := plain(v)
	switch f.Tag.Get("secret") {
	case "all":
		if text != "" {
			return "***"
		}
	case "url":
		return MaskURLs(text)
	}
	return text
}

func plain(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = fmt.Sprint(v.Index(i).Interface())
		}
		return strings.Join(items, ",")
	case reflect.Map:
		var items []string
		for _, k := range v.MapKeys() {
			items = append(items, fmt.Sprintf("%v=%v", k, v.MapIndex(k).Interface()))
		}
		slices.Sort(items)
		return strings.Join(items, ",")
	default:
		return fmt.Sprint(v.Interface())
	}
}

// MaskURLs hides user information in a comma-separated list of URLs: the password, or the whole user part where it is a
// bare token. A part without a scheme is read as NATS reads it, as if nats:// stood before it.
func MaskURLs(list string) string {
	parts := strings.Split(list, ",")
	for i, p := range parts {
		if strings.Contains(p, "@") {
			parts[i] = maskURL(strings.TrimSpace(p))
		}
	}
	return strings.Join(parts, ",")
}

func maskURL(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "", text
	} else {
		scheme += "://"
	}
	at := strings.LastIndex(rest, "@")
	if at < 0 {
		return text
	}
	user, _, hasPassword := strings.Cut(rest[:at], ":")
	if !hasPassword {
		return scheme + "***@" + rest[at+1:]
	}
	return scheme + user + ":***@" + rest[at+1:]
}
