package client

import (
	"errors"
	"testing"
)

// A key goes over no network in the clear, unless somebody says that it may.
func TestKeysInTheClear(t *testing.T) {
	for address, refused := range map[string]bool{
		"https://bindery.example.com":                false,
		"HTTPS://10.0.0.1":                           false,
		"http://localhost:8787":                      false,
		"http://LOCALHOST.":                          false,
		"http://api.localhost":                       false,
		"http://127.0.0.1:8787":                      false,
		"http://127.8.9.10/base":                     false,
		"http://[::1]:8787":                          false,
		"http://[::ffff:127.0.0.1]":                  false,
		"http://bindery.tools.svc":                   false,
		"http://bindery.tools.svc.cluster.local:80/": false,
		"http://bindery.example.com":                 true,
		"HTTP://bindery.example.com":                 true,
		"http://bindery":                             true,
		"http://10.0.0.1":                            true,
		"http://0.0.0.0":                             true,
		"http://[fe80::1]":                           true,
		"http://127.0.0.1.example.com":               true,
		"http://127.1":                               true,
		"http://localhost.example.com":               true,
		"http://notlocalhost":                        true,
		"http://svc":                                 true,
		"http://svc.cluster.local":                   true,
		"http://bindery.svc.example.com":             true,
		"http://bindery.cluster.local":               true,
	} {
		for _, allowed := range []bool{false, true} {
			_, err := New(Options{BaseURL: address, Key: key, AllowHTTP: allowed})
			if want := refused && !allowed; errors.Is(err, ErrInTheClear) != want || !want && err != nil {
				t.Errorf("%s, allowed %v: %v", address, allowed, err)
			}
		}
	}
}
