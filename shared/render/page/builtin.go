package page

import "github.com/bindery-docs/bindery/shared/render/mdx"

// registerSource registers what a source has and a resolved page does not.
func registerSource(k *kinds) {
	gone := kind{form: formGone, resolve: func(*resolver, *mdx.Node, *scope) ([]*mdx.Node, bool) { return nil, false }}
	k[mdx.ESM], k[mdx.Definition] = gone, gone
	k[mdx.Expression] = kind{form: formGone, resolve: (*resolver).expandExpression}
}

// builtinKinds returns the kinds that package mdx has.
func builtinKinds() *kinds {
	k := new(kinds)
	for _, register := range [...]func(*kinds){
		registerPhrases, registerBlocks, registerLists, registerTables, registerFootnotes, registerLinks,
		registerImages, registerMath, registerCode, registerElements, registerSource,
	} {
		register(k)
	}
	return k
}
