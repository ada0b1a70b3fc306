// Package dashboard walks through the dashboard, in a browser and without, and
// signs in at an OpenID provider.
package dashboard
