// The form that sends a call, on pages about one. It is made from the model in
// data-model; what is typed stays in this page's memory.
(function () {
  "use strict";

  var make = function (tag, props, children) {
    var e = document.createElement(tag);
    Object.keys(props || {}).forEach(function (k) {
      if (k === "text") e.textContent = props[k];
      else if (props[k] === true) e.setAttribute(k, "");
      else if (props[k] !== false && props[k] !== undefined) e.setAttribute(k, props[k]);
    });
    (children || []).forEach(function (c) { if (c) e.appendChild(c); });
    return e;
  };

  // quote writes a word for a shell.
  var quote = function (s) {
    return /^[\w\-.\/:@=%+,]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'";
  };

  // plain is a part of a parameter as text: JSON where it is no text itself.
  var plain = function (v) { return typeof v === "string" ? v : JSON.stringify(v); };

  // pairs gives a parameter as it stands in a query, by its style. Samples that
  // are made at export do the same.
  var pairs = function (p, value) {
    var parsed;
    if (p.style === "json") return [[p.name, value]];
    if (p.type === "object" || p.type === "array") {
      try { parsed = JSON.parse(value); } catch (e) { parsed = undefined; }
      if (parsed === undefined && p.type === "array") parsed = value.split(",").map(function (v) { return v.trim(); });
    }
    if (Array.isArray(parsed)) {
      if (p.explode) return parsed.map(function (v) { return [p.name, plain(v)]; });
      return [[p.name, parsed.map(plain).join(p.style === "pipeDelimited" ? "|" : p.style === "spaceDelimited" ? " " : ",")]];
    }
    if (parsed && typeof parsed === "object") {
      return Object.keys(parsed).map(function (k) {
        return [p.style === "deepObject" ? p.name + "[" + k + "]" : k, plain(parsed[k])];
      });
    }
    return [[p.name, value]];
  };

  var setUp = function (root) {
    var model;
    try { model = JSON.parse(root.getAttribute("data-model")); } catch (e) { return; }
    var words = model.words, fields = [], running = null;

    var field = function (label, control, required) {
      return make("label", {}, [make("span", { text: label + (required ? " (" + words.required + ")" : "") }), control]);
    };
    var group = function (title, children) {
      return children.length ? make("fieldset", {}, [make("legend", { text: title })].concat(children)) : null;
    };

    var auth = (model.auth || []).map(function (a) {
      var inputs = a.kind === "basic"
        ? [make("input", { autocomplete: "off", spellcheck: "false" }), make("input", { type: "password", autocomplete: "off" })]
        : [make("input", { type: "password", autocomplete: "off" })];
      return { def: a, inputs: inputs };
    });

    var control = function (p) {
      if (p.options && p.options.length) {
        var list = make("select", {}, [make("option", { value: "", text: "" })].concat(p.options.map(function (o) {
          return make("option", { value: o, text: o });
        })));
        list.value = p.value || "";
        return list;
      }
      return make("input", { value: p.value || "", spellcheck: "false", autocomplete: "off" });
    };
    // A single address can be changed; of several, one is picked, and its
    // variables are filled in.
    var single = model.servers.length === 1 && !model.servers[0].vars;
    var server = single
      ? make("input", { type: "url", value: model.servers[0].url, spellcheck: "false" })
      : make("select", {}, model.servers.map(function (s) { return make("option", { text: s.url }); }));
    var variables = model.servers.map(function (s) {
      return (s.vars || []).map(function (v) {
        var c = control({ value: v.value, options: v.options });
        return { name: v.name, input: c, label: field(v.name, c) };
      });
    });
    var address = function () {
      if (single) return server.value;
      var url = model.servers[server.selectedIndex].url;
      variables[server.selectedIndex].forEach(function (v) { url = url.split("{" + v.name + "}").join(v.input.value); });
      return url;
    };

    (model.params || []).forEach(function (p) { fields.push({ def: p, input: control(p) }); });
    var place = function (where) {
      return fields.filter(function (f) { return f.def.in === where; });
    };

    var body = null, parts = [];
    if (model.body && model.body.form) {
      parts = model.body.form.map(function (f) {
        return { def: f, input: f.file ? make("input", { type: "file" }) : make("input", { value: f.value || "", spellcheck: "false" }) };
      });
    } else if (model.body) {
      body = make("textarea", { spellcheck: "false", "aria-label": words.body + " " + model.body.type });
      body.value = model.body.value || "";
    }

    // request reads the form. With secret false, secrets are placeholders.
    var request = function (secret) {
      var path = model.path, query = [], headers = [], cookies = [], data = null;
      place("path").forEach(function (f) {
        if (f.input.value) path = path.split("{" + f.def.name + "}").join(encodeURIComponent(f.input.value));
      });
      place("query").forEach(function (f) { if (f.input.value) query = query.concat(pairs(f.def, f.input.value)); });
      place("header").forEach(function (f) { if (f.input.value) headers.push([f.def.name, f.input.value]); });
      place("cookie").forEach(function (f) { if (f.input.value) cookies.push(f.def.name + "=" + f.input.value); });
      auth.forEach(function (a) {
        var value = a.inputs[a.inputs.length - 1].value;
        if (!value) return;
        if (!secret) value = a.def.kind === "key" ? "<api-key>" : "<token>";
        if (a.def.kind === "bearer") value = "Bearer " + value;
        if (a.def.kind === "basic") {
          value = "Basic " + (secret ? btoa(unescape(encodeURIComponent(a.inputs[0].value + ":" + a.inputs[1].value))) : "<credentials>");
        }
        if (a.def.in === "query") query.push([a.def.name, value]);
        else if (a.def.in === "cookie") cookies.push(a.def.name + "=" + value);
        else headers.push([a.def.name, value]);
      });
      if (body && body.value) {
        headers.push(["Content-Type", model.body.type]);
        data = body.value;
      }
      var url = address().replace(/\/+$/, "") + path;
      if (query.length) {
        url += (url.indexOf("?") < 0 ? "?" : "&") + query.map(function (q) {
          return encodeURIComponent(q[0]) + "=" + encodeURIComponent(q[1]);
        }).join("&");
      }
      return { url: url, headers: headers, cookies: cookies, data: data };
    };

    var command = make("pre", { tabindex: "0", role: "group", "aria-label": "cURL" });
    var show = function () {
      variables.forEach(function (list, i) {
        list.forEach(function (v) { v.label.hidden = i !== server.selectedIndex; });
      });
      var r = request(false);
      var lines = ["curl --request " + model.method, "--url " + quote(r.url)];
      r.headers.forEach(function (h) { lines.push("--header " + quote(h[0] + ": " + h[1])); });
      if (r.cookies.length) lines.push("--cookie " + quote(r.cookies.join("; ")));
      parts.forEach(function (p) {
        var multipart = model.body.type === "multipart/form-data";
        if (p.def.file) {
          if (p.input.files.length) lines.push("--form " + quote(p.def.name + "=@" + p.input.files[0].name));
        } else if (p.input.value) {
          lines.push((multipart ? "--form " : "--data-urlencode ") + quote(p.def.name + "=" + p.input.value));
        }
      });
      if (r.data) lines.push("--data " + quote(r.data));
      command.textContent = lines.join(" \\\n  ");
    };

    var result = make("div", { class: "playground-result", role: "status" });
    var button = make("button", { type: "submit", text: words.send });
    var form = make("form", { "aria-label": words.try }, [
      group(words.server, variables.reduce(function (all, list) {
        return all.concat(list.map(function (v) { return v.label; }));
      }, [field("URL", server)])),
      group(words.auth, auth.map(function (a) {
        return a.inputs.length > 1
          ? make("div", {}, [field(a.def.scheme + " username", a.inputs[0]), field(a.def.scheme + " password", a.inputs[1])])
          : field(a.def.scheme, a.inputs[0]);
      }).concat(auth.length ? [make("p", { class: "playground-note", text: words.secrets })] : [])),
    ].concat(["path", "query", "header", "cookie"].map(function (where) {
      return group(words[where], place(where).map(function (f) { return field(f.def.name, f.input, f.def.required); }));
    })).concat([
      group(words.body, body ? [body] : parts.map(function (p) { return field(p.def.name, p.input); })),
      make("div", {}, [make("p", { class: "playground-note", text: words.request }), command]),
      button, result,
    ]));

    var block = function (label, text) {
      return make("pre", { tabindex: "0", role: "group", "aria-label": label, text: text });
    };
    var answer = function (children) {
      result.replaceChildren.apply(result, children);
    };

    form.addEventListener("input", show);
    form.addEventListener("change", show);
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      if (running) running.abort();
      var mine = running = new AbortController();
      var r = request(true), headers = new Headers(), data = r.data;
      try {
        r.headers.forEach(function (h) { headers.append(h[0], h[1]); });
      } catch (e) {
        answer([make("p", { class: "playground-failed", text: words.failed + " " + e.message })]);
        return;
      }
      if (parts.length) {
        data = model.body.type === "multipart/form-data" ? new FormData() : new URLSearchParams();
        parts.forEach(function (p) {
          if (p.def.file) {
            if (p.input.files.length && data instanceof FormData) data.append(p.def.name, p.input.files[0]);
          } else if (p.input.value) data.append(p.def.name, p.input.value);
        });
      }
      var began = performance.now();
      button.disabled = true;
      fetch(r.url, {
        method: model.method, headers: headers, body: model.method === "GET" || model.method === "HEAD" ? undefined : data,
        credentials: model.credentials ? "include" : "omit", signal: mine.signal,
      }).then(function (res) {
        return res.text().then(function (text) {
          if (running !== mine) return;
          var lines = [];
          res.headers.forEach(function (v, k) { lines.push(k + ": " + v); });
          if (/json/.test(res.headers.get("content-type") || "")) {
            try { text = JSON.stringify(JSON.parse(text), null, 2); } catch (e) { /* as it is */ }
          }
          if (text.length > 500000) text = text.slice(0, 500000) + "\n…";
          answer([
            make("p", { text: words.status + ": " + res.status + " " + res.statusText + " · " + words.time + ": " + Math.round(performance.now() - began) + " ms" }),
            lines.length ? block(words.header, lines.join("\n")) : null,
            text ? block(words.response, text) : null,
          ].filter(Boolean));
        });
      }).catch(function (e) {
        if (running !== mine || e.name === "AbortError") return;
        answer([make("p", { class: "playground-failed", text: words.failed }), make("p", { text: words.refused })]);
      }).then(function () {
        if (running === mine) { running = null; button.disabled = false; }
      });
    });

    root.appendChild(make("details", {}, [make("summary", { text: words.try }), form]));
    show();
  };

  var start = function () { document.querySelectorAll(".playground[data-model]").forEach(setUp); };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
