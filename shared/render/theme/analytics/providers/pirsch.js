load("https://api.pirsch.io/pa.js", { id: "pianjs", "data-code": s.id });
