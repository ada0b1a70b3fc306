package kept

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// errValue reports bytes that are not a value of the type.
var errValue = errors.New("kept: not a value of this type")

// Append appends a value's bytes: booleans, numbers, texts, and structs, slices
// and maps by texts of them. nil and empty stay apart. It panics for another
// type, or one with fields that are not exported.
func Append(b []byte, v any) []byte { return appendValue(b, reflect.ValueOf(v)) }

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				panic(fmt.Sprintf("kept: %s has fields that are not exported", v.Type()))
			}
			b = appendValue(b, v.Field(i))
		}
		return b
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(b, v.Bytes()...)
		}
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	case reflect.Map:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			b = appendValue(appendValue(b, k), v.MapIndex(k))
		}
		return b
	}
	panic(fmt.Sprintf("kept: values of %s can't be kept", v.Type()))
}

// Read reads into the value that v points at what Append wrote of a value of its
// type. Slices of bytes are parts of data.
func Read(data []byte, v any) error {
	r := reader{data: data}
	r.read(reflect.ValueOf(v).Elem())
	if r.bad || len(r.data) > 0 {
		return errValue
	}
	return nil
}

type reader struct {
	data []byte
	bad  bool
}

func (r *reader) fail() { r.bad, r.data = true, nil }

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[size:]
	return n
}

// take returns the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	out := r.data[:n:n]
	r.data = r.data[n:]
	return out
}

// count reads how many elements follow, each of one byte at least unless it is of
// an empty struct; false for nil.
func (r *reader) count() (int, bool) {
	n := r.number()
	if n == 0 {
		return 0, false
	}
	if n-1 > uint64(len(r.data)) {
		r.fail()
		return 0, false
	}
	return int(n - 1), true
}

func (r *reader) read(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.number() == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(r.data)
		if size <= 0 {
			r.fail()
			return
		}
		r.data = r.data[size:]
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.Float64:
		if b := r.take(8); b != nil {
			v.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case reflect.String:
		v.SetString(string(r.take(r.number())))
	case reflect.Struct:
		for i := range v.NumField() {
			r.read(v.Field(i))
		}
	case reflect.Slice:
		n, ok := r.count()
		switch {
		case !ok:
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes(r.take(uint64(n)))
		default:
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := 0; i < n && !r.bad; i++ {
				r.read(v.Index(i))
			}
		}
	case reflect.Map:
		n, ok := r.count()
		if !ok {
			return
		}
		v.Set(reflect.MakeMapWithSize(v.Type(), n))
		for i := 0; i < n && !r.bad; i++ {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.read(key)
			r.read(value)
			v.SetMapIndex(key, value)
		}
	default:
		r.fail()
	}
}
