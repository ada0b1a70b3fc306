// Package rules holds what needs neither a program nor a browser and is looked at
// before each push: the tables of rooms and of crafts, and files that must agree.
package rules
