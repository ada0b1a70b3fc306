// Asks Pagefind and minisearch what bench-search asks of a bundle. Reads the
// sites from standard input, {name, language, dir, pages, questions: [{query,
// right}]}, and writes the ranks of each engine as JSON, 0 where none is right.
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import MiniSearch from "minisearch";
import * as pagefind from "pagefind";

const sites = JSON.parse(fs.readFileSync(0, "utf8"));
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "searchbench-"));

// Both get the article alone: what stands around it would only be in their way.
function article(site, page) {
  const html = fs.readFileSync(path.join(site.dir, page + ".html"), "utf8");
  return (html.match(/<article[\s\S]*<\/article>/) || [""])[0].replace(/<(script|style|svg)[\s\S]*?<\/\1>/g, "");
}

const plain = (html) => html.replace(/<[^>]+>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, "&").replace(/\s+/g, " ").trim();
const each = (html, tag) => [...html.matchAll(tag)].map((m) => plain(m[1])).join("\n");
const rank = (found, right) => 1 + found.findIndex((p) => right.includes(p));

function askMinisearch(site) {
  const index = new MiniSearch({ fields: ["title", "headings", "text"], searchOptions: { boost: { title: 3, headings: 2 }, prefix: true, fuzzy: 0.2 } });
  index.addAll(site.pages.map((id) => {
    const html = article(site, id);
    return { id, title: each(html, /<h1[^>]*>([\s\S]*?)<\/h1>/g), headings: each(html, /<h[2-6][^>]*>([\s\S]*?)<\/h[2-6]>/g), text: plain(html) };
  }));
  return site.questions.map((q) => rank(index.search(q.query).map((r) => r.id), q.right));
}

async function askPagefind(site, number) {
  const { index } = await pagefind.createIndex({});
  for (const id of site.pages) {
    await index.addHTMLFile({ url: `/${id}.html`, content: `<html lang="${site.language}"><body>${article(site, id)}</body></html>` });
  }
  const files = new Map((await index.getFiles()).files.map((f) => [f.path, f.content]));
  const server = http.createServer((request, response) => {
    const content = files.get(request.url.slice(1).replace(/\?.*/, ""));
    response.writeHead(content ? 200 : 404).end(content);
  }).listen(0, "127.0.0.1");
  await new Promise((ready) => server.on("listening", ready));
  globalThis.document = { querySelector: () => ({ getAttribute: () => site.language }), currentScript: null };
  const script = path.join(scratch, `pagefind-${number}.mjs`);
  fs.writeFileSync(script, files.get("pagefind.js"));
  const engine = (await import(pathToFileURL(script))).createInstance({ basePath: `http://127.0.0.1:${server.address().port}/`, baseUrl: "/" });
  await engine.init(site.language);
  const out = [];
  for (const q of site.questions) {
    const found = await Promise.all((await engine.search(q.query)).results.slice(0, 20).map((r) => r.data()));
    out.push(rank(found.map((d) => d.url.replace(/^\//, "").replace(/\.html$/, "")), q.right));
  }
  server.close();
  return out;
}

const out = { pagefind: [], minisearch: [] };
for (const [i, site] of sites.entries()) {
  out.minisearch.push(askMinisearch(site));
  out.pagefind.push(await askPagefind(site, i));
}
await pagefind.close();
fs.rmSync(scratch, { recursive: true });
fs.writeFileSync(1, JSON.stringify(out) + "\n");
process.exit(0);
