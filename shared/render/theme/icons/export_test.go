package icons

// Aliases are the names that stand in for others.
var Aliases = aliases

// ProNames is the table of names of Font Awesome Pro.
var ProNames = proNames

// Draw makes the element of an entry.
var Draw = draw

// Entries reads a whole file.
func Entries(file []byte) (map[string]string, error) {
	blocks, err := decode(file)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, k := range blocks {
		for n, e := range k.names() {
			all[n] = e
		}
	}
	return all, nil
}
