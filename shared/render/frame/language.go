package frame

import (
	"cmp"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/site"
)

// siteLanguage is the language of a site's pages: that of the page that readers
// see first; empty where the navigation has no languages.
func siteLanguage(s *site.Site) string {
	home := s.Home()
	if home < 0 {
		return ""
	}
	return languageTag(s.Language(s.Near(home)))
}

// languages are the tags of all languages of a site's navigation, in its order.
func languages(s *site.Site) []string {
	var tags []string
	var walk func(n *site.Node)
	walk = func(n *site.Node) {
		if n.Kind == site.KindLanguage && !slices.Contains(tags, languageTag(n.Label)) {
			tags = append(tags, languageTag(n.Label))
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	for _, n := range append([]*site.Node{s.Nav}, s.Global...) {
		walk(n)
	}
	return tags
}

// languageTag is the BCP 47 tag for a language of the configuration, which
// uses "cn" for Chinese.
func languageTag(label string) string {
	switch label {
	case "cn", "zh", "zh-Hans":
		return "zh-Hans"
	case "jp":
		return "ja"
	}
	return label
}

// languageNames are the names of languages in themselves, by the labels that
// docs.json has for them. Package words speaks them all.
var languageNames = map[string]string{
	"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "it": "Italiano", "pt": "Português",
	"pt-BR": "Português (Brasil)", "nl": "Nederlands", "pl": "Polski", "cs": "Čeština", "ro": "Română", "hu": "Magyar",
	"sv": "Svenska", "no": "Norsk", "da": "Dansk", "fi": "Suomi", "ru": "Русский", "uk": "Українська", "tr": "Türkçe",
	"ar": "العربية", "he": "עברית", "hi": "हिन्दी", "id": "Bahasa Indonesia", "vi": "Tiếng Việt", "th": "ไทย",
	"ja": "日本語", "jp": "日本語", "ko": "한국어", "zh": "简体中文", "cn": "简体中文", "zh-Hans": "简体中文",
	"zh-Hant": "繁體中文", "uz": "Oʻzbekcha", "lv": "Latviešu", "ca": "Català", "ja-jp": "日本語",
}

// languageName is a language's name in itself, or its label where no name is
// known.
func languageName(label string) string { return cmp.Or(languageNames[label], label) }
