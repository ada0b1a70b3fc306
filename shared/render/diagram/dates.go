package diagram

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// dateToken finds the parts of a format such as YYYY-MM-DD HH:mm; text in square
// brackets stands for itself.
var dateToken = lazy.Regexp(`\[[^\]]*\]|YYYY|YY|MMMM|MMM|MM|M|DD|Do|D|dddd|ddd|HH|H|hh|h|mm|m|ss|s|SSS|A|a|X|x`)

// dateOf reads a date by such a format. Parts that the format lacks are those of
// the first of January 2000. What is not of the format is read as a date of ISO 8601.
func dateOf(format, text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, false
	}
	if t, ok := parseDate(strings.TrimSpace(format), text); ok {
		return t, true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func parseDate(format, text string) (time.Time, bool) {
	year, month, day, hour, minute, second, ms, afternoon := 2000, 1, 1, 0, 0, 0, 0, -1
	var unix *time.Time
	rest, at := text, 0
	digits := func(least, most int, to *int) bool {
		n := 0
		for n < len(rest) && n < most && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n < least {
			return false
		}
		*to, _ = strconv.Atoi(rest[:n])
		rest = rest[n:]
		return true
	}
	name := func(length int, names func(i int) string, count int, to *int) bool {
		for i := range count {
			n := names(i)
			if length > 0 && len(n) > length {
				n = n[:length]
			}
			if len(rest) >= len(n) && strings.EqualFold(rest[:len(n)], n) {
				*to, rest = i+1, rest[len(n):]
				return true
			}
		}
		return false
	}
	months := func(i int) string { return time.Month(i + 1).String() }
	days := func(i int) string { return time.Weekday(i).String() }
	ignored := 0
	for _, m := range dateToken().FindAllStringIndex(format, -1) {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, format[at:m[0]]); !ok {
			return time.Time{}, false
		}
		at = m[1]
		switch token := format[m[0]:m[1]]; token {
		case "YYYY":
			ok = digits(4, 4, &year)
		case "YY":
			ok = digits(2, 2, &year)
			if year += 1900; year < 1969 {
				year += 100
			}
		case "MMMM":
			ok = name(0, months, 12, &month)
		case "MMM":
			ok = name(3, months, 12, &month)
		case "MM", "M":
			ok = digits(1, 2, &month)
		case "DD", "D":
			ok = digits(1, 2, &day)
		case "Do":
			if ok = digits(1, 2, &day); ok && len(rest) >= 2 {
				rest = rest[2:]
			}
		case "dddd":
			ok = name(0, days, 7, &ignored)
		case "ddd":
			ok = name(3, days, 7, &ignored)
		case "HH", "H", "hh", "h":
			ok = digits(1, 2, &hour)
		case "mm", "m":
			ok = digits(1, 2, &minute)
		case "ss", "s":
			ok = digits(1, 2, &second)
		case "SSS":
			ok = digits(3, 3, &ms)
		case "A", "a":
			ok = name(0, func(i int) string { return [...]string{"AM", "PM"}[i] }, 2, &afternoon)
		case "X", "x":
			n := 0
			if ok = digits(1, 14, &n); ok {
				t := time.Unix(int64(n), 0).UTC()
				if token == "x" {
					t = time.UnixMilli(int64(n)).UTC()
				}
				unix = &t
			}
		default:
			rest, ok = strings.CutPrefix(rest, token[1:len(token)-1])
		}
		if !ok {
			return time.Time{}, false
		}
	}
	if rest != format[at:] || month < 1 || month > 12 || day < 1 || hour > 24 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	if unix != nil {
		return *unix, unix.Year() <= maxYear
	}
	if afternoon == 1 && hour == 12 {
		hour = 0
	} else if afternoon == 2 && hour < 12 {
		hour += 12
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, ms*1e6, time.UTC)
	return t, int(t.Month()) == month || hour == 24
}

// dateLayouts has the layout of package time for parts of a date's format.
var dateLayouts = map[string]string{
	"YYYY": "2006", "YY": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "DD": "02", "D": "2", "Do": "2",
	"dddd": "Monday", "ddd": "Mon", "HH": "15", "H": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5", "A": "PM", "a": "pm",
}

// formatDate writes a date by such a format.
func formatDate(format string, t time.Time) string {
	return dateToken().ReplaceAllStringFunc(format, func(token string) string {
		switch token {
		case "X":
			return strconv.FormatInt(t.Unix(), 10)
		case "x":
			return strconv.FormatInt(t.UnixMilli(), 10)
		case "SSS":
			return fmt.Sprintf("%03d", t.Nanosecond()/1e6)
		}
		if layout, ok := dateLayouts[token]; ok {
			return t.Format(layout)
		}
		return token[1 : len(token)-1]
	})
}

// axisToken finds the parts of a format such as %Y-%m-%d.
var axisToken = lazy.Regexp(`%([-_0]?)([a-zA-Z%])`)

// strftime writes a time by such a format.
func strftime(format string, t time.Time) string {
	if len(format) > 100 {
		format = format[:100]
	}
	return axisToken().ReplaceAllStringFunc(format, func(token string) string {
		m := axisToken().FindStringSubmatch(token)
		pad := func(n, digits int, with string) string {
			s := strconv.Itoa(n)
			switch m[1] {
			case "-":
				return s
			case "_":
				with = " "
			case "0":
				with = "0"
			}
			return strings.Repeat(with, max(0, digits-len(s))) + s
		}
		week := func(first time.Weekday) int {
			return (t.YearDay() + 6 - (int(t.Weekday()-first)+7)%7) / 7
		}
		switch m[2] {
		case "Y":
			return pad(t.Year(), 4, "0")
		case "y":
			return pad(t.Year()%100, 2, "0")
		case "m":
			return pad(int(t.Month()), 2, "0")
		case "d":
			return pad(t.Day(), 2, "0")
		case "e":
			return pad(t.Day(), 2, " ")
		case "b", "h":
			return t.Format("Jan")
		case "B":
			return t.Format("January")
		case "a":
			return t.Format("Mon")
		case "A":
			return t.Format("Monday")
		case "H":
			return pad(t.Hour(), 2, "0")
		case "I":
			return pad((t.Hour()+11)%12+1, 2, "0")
		case "M":
			return pad(t.Minute(), 2, "0")
		case "S":
			return pad(t.Second(), 2, "0")
		case "L":
			return pad(t.Nanosecond()/1e6, 3, "0")
		case "f":
			return pad(t.Nanosecond()/1e3, 6, "0")
		case "p":
			return t.Format("PM")
		case "j":
			return pad(t.YearDay(), 3, "0")
		case "q":
			return strconv.Itoa((int(t.Month())-1)/3 + 1)
		case "u":
			return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
		case "w":
			return strconv.Itoa(int(t.Weekday()))
		case "U":
			return pad(week(time.Sunday), 2, "0")
		case "W":
			return pad(week(time.Monday), 2, "0")
		case "V":
			_, n := t.ISOWeek()
			return pad(n, 2, "0")
		case "G":
			n, _ := t.ISOWeek()
			return pad(n, 4, "0")
		case "s":
			return strconv.FormatInt(t.Unix(), 10)
		case "Q":
			return strconv.FormatInt(t.UnixMilli(), 10)
		case "x":
			return t.Format("1/2/2006")
		case "X":
			return t.Format("3:04:05 PM")
		case "c":
			return t.Format("1/2/2006, 3:04:05 PM")
		case "Z":
			return "+0000"
		case "%":
			return "%"
		}
		return token
	})
}
