// replacer makes a function of what a replacement says with its marks; text
// charges each text that it makes on the way.
(function (text) {
  // substitution says what a replacement with its marks stands for.
  function substitution(say, found, parts, at, whole, groups) {
    var out = '', i = 0, mark, n;
    function add(more) { text(more); out += more; text(out); }
    for (;;) {
      mark = say.indexOf('$', i);
      if (mark < 0 || mark + 1 >= say.length) { add(say.slice(i)); return out; }
      add(say.slice(i, mark));
      var c = say[mark + 1], end = mark + 2;
      if (c === '$') add('$');
      else if (c === '&') add(found);
      else if (c === '`') add(whole.slice(0, at));
      else if (c === "'") add(whole.slice(at + found.length));
      else if (c >= '0' && c <= '9') {
        n = +c;
        var d = say[mark + 2];
        if (d >= '0' && d <= '9' && n * 10 + +d <= parts.length && n * 10 + +d > 0) { n = n * 10 + +d; end++; }
        if (n > 0 && n <= parts.length) add(parts[n - 1] === undefined ? '' : parts[n - 1]);
        else add(say.slice(mark, end));
      } else if (c === '<' && groups !== undefined && say.indexOf('>', end) > 0) {
        end = say.indexOf('>', end) + 1;
        var name = say.slice(mark + 2, end - 1);
        add(groups[name] === undefined ? '' : String(groups[name]));
      } else add('$' + c);
      i = end;
    }
  }
  return function (say) {
    return function (found) {
      var last = arguments.length - 1, groups = typeof arguments[last] === 'object' ? arguments[last--] : undefined;
      return substitution(say, found, Array.prototype.slice.call(arguments, 1, last - 1), arguments[last - 1], arguments[last], groups);
    };
  };
})
