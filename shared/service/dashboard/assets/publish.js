// Publishes a folder, or a zip of one, of this browser's machine. Which files are
// published, in which packs, and what of that is missing, the server says: see publish.go.
(() => {
  'use strict';
  const form = document.getElementById('publish');
  const area = document.getElementById('publishing'), said = document.getElementById('publish-said'), bar = document.getElementById('publish-bar');
  const problem = document.getElementById('publish-problem');
  const most = { list: Number(form.dataset.list), file: Number(form.dataset.file), bytes: Number(form.dataset.bytes) };
  // After four pauses of longest seconds, the lease of a call that was lost is over.
  const parallel = 4, tries = 5, longest = 30, chunk = 2000, small = 64 << 20;
  // Opening a small file takes longer than reading it, so some are held from the first time on.
  const heldFile = 64 << 10, held = 32 << 20;

  // Fault is an error with a sentence for people.
  class Fault extends Error {
    constructor(message, code) { super(message); this.code = code; }
  }

  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const count = (n, one, many) => n.toLocaleString('en') + ' ' + (n === 1 ? one : many);
  const size = (n) => n < 1 << 20 ? Math.ceil(n / 1024).toLocaleString('en') + ' KiB' : (n / (1 << 20)).toFixed(1) + ' MiB';

  // say shows how far it is. Who hears the page is told once in two seconds.
  let saidAt = 0, phase = '';
  const say = (now, text, done, total) => {
    if (total) bar.value = Math.min(1, done / total);
    else bar.removeAttribute('value');
    if (now === phase && Date.now() - saidAt < 2000 && done !== total) return;
    phase = now;
    saidAt = Date.now();
    said.textContent = now + (text ? ': ' + text : '');
  };

  // each works on a list, several at once. After a fault no more are begun.
  const each = async (list, atOnce, work) => {
    let next = 0, fault = null;
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (next < list.length && !fault) {
        const i = next++;
        try { await work(list[i], i); } catch (e) { fault = fault || e; }
      }
    }));
    if (fault) throw fault;
  };

  // call asks the server, again where it does not answer.
  const call = async (name, body) => {
    const text = JSON.stringify(body);
    if (new Blob([text]).size > most.list) throw new Fault('The site has too many files for a browser; publish it with the command line below.');
    for (let attempt = 1; ; attempt++) {
      let answer = null, said = {};
      try {
        answer = await fetch(form.action + '/' + name, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text, redirect: 'error' });
        if (answer.ok) return await answer.json();
        said = await answer.json().catch(() => ({}));
      } catch { answer = null; }
      // The same call may still run, of a connection that was lost.
      if (attempt < tries && (!answer || [429, 502, 503, 504].includes(answer.status) || said.code === 'idempotency_running')) {
        const asked = answer && Number(answer.headers.get('Retry-After')) || 0; // a date counts as nothing
        await wait(1000 * Math.max(2 ** (attempt - 1), Math.min(asked, longest)));
        continue;
      }
      if (!answer) throw new Fault('The server can’t be reached. Try again in a moment.');
      throw new Fault(said.error || 'The server answers with ' + answer.status + '.', said.code);
    }
  };

  // A source is a folder: read(path) returns the folders and files in one of its folders,
  // "" for itself, with their full paths. A file's blob() has its bytes.

  const named = (name) => name.toWellFormed ? name.toWellFormed() : name;

  const flat = (items) => {
    const folders = new Map([['', { folders: [], files: [] }]]);
    const folder = (path) => {
      let known = folders.get(path);
      if (!known) {
        folders.set(path, known = { folders: [], files: [] });
        folder(path.slice(0, Math.max(0, path.lastIndexOf('/')))).folders.push(path);
      }
      return known;
    };
    for (const item of items) {
      // A path that leads out of the folder is in none: the server refuses it.
      const odd = item.path.split('/').some((part) => part === '' || part === '.' || part === '..');
      folder(odd ? '' : item.path.slice(0, Math.max(0, item.path.lastIndexOf('/')))).files.push(item);
    }
    return { read: async (path) => folders.get(path) };
  };

  const ofInput = (files) => {
    if (files.some((file) => !file.webkitRelativePath)) throw new Fault('This browser can’t choose folders; choose a zip.');
    return flat(files.map((file) => ({
      path: named(file.webkitRelativePath.slice(file.webkitRelativePath.indexOf('/') + 1)), blob: async () => file,
    })));
  };

  // ofEntries is a folder that was dropped, or what is in one.
  const ofEntries = (entries) => {
    const known = new Map();
    const sort = (at, list) => {
      const in_ = { folders: [], files: [] };
      for (const entry of list) {
        const path = (at ? at + '/' : '') + named(entry.name);
        if (entry.isDirectory) {
          known.set(path, entry);
          in_.folders.push(path);
        } else {
          in_.files.push({ path, blob: () => new Promise((done, fail) => entry.file(done, fail)) });
        }
      }
      return in_;
    };
    const list = async (entry) => {
      const reader = entry.createReader(), all = [];
      for (;;) {
        const some = await new Promise((done, fail) => reader.readEntries(done, fail)); // a hundred at a time
        if (!some.length) return all;
        all.push(...some);
      }
    };
    return {
      read: async (path) => {
        try {
          if (path === '') return sort('', entries.length === 1 && entries[0].isDirectory ? await list(entries[0]) : entries);
          return sort(path, await list(known.get(path)));
        } catch { throw new Fault((path || 'The folder') + ' can’t be read.'); }
      },
    };
  };

  // zipName returns a file's name in a zip, null if it can't be read. Old programs write
  // names in the code page of their system, some with the name in UTF-8 beside it: a field
  // with a version, the checksum of the other name, and the name.
  const zipName = (name, extra, flags) => {
    for (let at = 0; !(flags & 0x800) && at + 4 <= extra.byteLength; ) {
      const kind = extra.getUint16(at, true), length = extra.getUint16(at + 2, true);
      const own = at + 4;
      at = own + length;
      if (kind !== 0x7075 || length < 5 || at > extra.byteLength) continue;
      if (extra.getUint8(own) !== 1 || extra.getUint32(own + 1, true) !== ~crc(-1, name) >>> 0) continue;
      name = new Uint8Array(extra.buffer, extra.byteOffset + own + 5, length - 5);
      break;
    }
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name);
    } catch { return null; }
  };

  // ofZip reads a zip's list of files; what they have is read when it is needed.
  const ofZip = async (file) => {
    const broken = (why) => new Fault(file.name + ' ' + (why || 'is not a zip, or is damaged') + '.');
    const view = async (from, length) => {
      if (from < 0 || from + length > file.size) throw broken();
      return new DataView(await file.slice(from, from + length).arrayBuffer());
    };
    const tail = await view(Math.max(0, file.size - 65557), Math.min(file.size, 65557));
    let end = tail.byteLength - 22;
    while (end >= 0 && !(tail.getUint32(end, true) === 0x06054b50 && end + 22 + tail.getUint16(end + 20, true) === tail.byteLength)) end--;
    if (end < 0) throw broken();
    const entries = tail.getUint16(end + 10, true), length = tail.getUint32(end + 12, true), start = tail.getUint32(end + 16, true);
    if (entries === 0xffff || length === 0xffffffff || start === 0xffffffff) throw broken('is in the form Zip64, which is not read here: drop the folder instead');
    if (tail.getUint16(end + 4, true) !== 0 || entries !== tail.getUint16(end + 8, true)) throw broken('is one of several parts');
    const list = await view(start, length), left = [];
    let items = [], total = 0, at = 0;
    for (let n = 0; n < entries; n++) {
      if (at + 46 > length || list.getUint32(at, true) !== 0x02014b50) throw broken();
      const system = list.getUint8(at + 5), nameLength = list.getUint16(at + 28, true), mode = list.getUint16(at + 40, true);
      const entry = {
        flags: list.getUint16(at + 8, true), method: list.getUint16(at + 10, true), sum: list.getUint32(at + 16, true),
        packed: list.getUint32(at + 20, true), size: list.getUint32(at + 24, true), start: list.getUint32(at + 42, true),
      };
      const next = at + 46 + nameLength + list.getUint16(at + 30, true) + list.getUint16(at + 32, true);
      if (next > length) throw broken();
      let path = zipName(new Uint8Array(list.buffer, at + 46, nameLength), new DataView(list.buffer, at + 46 + nameLength, list.getUint16(at + 30, true)), entry.flags);
      if (path === null) throw broken('has names of files that are not in UTF-8, which is not read here: drop the folder instead');
      if ([0, 10, 14].includes(system)) path = path.replaceAll('\\', '/'); // some programs of Windows
      at = next;
      if (path.endsWith('/')) continue;
      const kind = system === 3 ? mode >> 12 : 0;
      if (kind && kind !== 8) { // a link may lead out of the folder
        left.push(path + ': it is a link or something special, not a file');
        continue;
      }
      if ([entry.packed, entry.size, entry.start].includes(0xffffffff)) throw broken('is in the form Zip64, which is not read here: drop the folder instead');
      if ((total += entry.size) > most.bytes) throw broken('has more than ' + size(most.bytes) + ' once it is unpacked');
      items.push({ path, size: entry.size, blob: () => unpack(view, file, path, entry) });
    }
    if (at !== length) throw broken(); // a count of 16 bits has wrapped
    // One folder around everything is the folder; what macOS puts beside it is no part.
    const own = items.filter((item) => !item.path.startsWith('__MACOSX/'));
    const top = own.length ? own[0].path.split('/')[0] + '/' : '';
    if (top && top !== '../' && top !== '/' && own.every((item) => item.path.startsWith(top) && item.path.length > top.length)) {
      items = own;
      for (const item of items) item.path = item.path.slice(top.length);
    }
    return { ...flat(items), left };
  };

  const table = new Uint32Array(256).map((_, n) => {
    for (let i = 0; i < 8; i++) n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
    return n >>> 0;
  });

  // crc goes on with a checksum, which is -1 at first; its complement is CRC-32.
  const crc = (sum, data) => {
    for (const byte of data) sum = table[(sum ^ byte) & 255] ^ sum >>> 8;
    return sum;
  };

  // unpack returns a file of a zip. It stops if there is more than the list says.
  const unpack = async (view, file, path, entry) => {
    if (entry.flags & 1) throw new Fault(path + ': it is encrypted in the zip.');
    if (entry.method !== 0 && entry.method !== 8) throw new Fault(path + ': it is compressed in the zip by a method that is not read here.');
    if (entry.size > most.file) throw tooLarge(path, entry.size);
    const damaged = () => new Fault(path + ': it is damaged in the zip.');
    const head = await view(entry.start, 30);
    if (head.getUint32(0, true) !== 0x04034b50) throw damaged();
    const from = entry.start + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    if (from + entry.packed > file.size) throw damaged();
    let stream = file.slice(from, from + entry.packed).stream();
    if (entry.method === 8) {
      if (!window.DecompressionStream) throw new Fault('This browser can’t unpack a zip: drop the folder instead.');
      stream = stream.pipeThrough(new DecompressionStream('deflate-raw'));
    }
    const parts = [];
    let length = 0, sum = -1;
    try {
      for (const reader = stream.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        if ((length += value.length) > entry.size) {
          reader.cancel().catch(() => {});
          throw damaged();
        }
        sum = crc(sum, value);
        parts.push(value);
      }
    } catch { throw damaged(); }
    if (length !== entry.size || (~sum >>> 0) !== entry.sum) throw damaged();
    return new Blob(parts);
  };

  const tooLarge = (path, n) => new Fault(path + ': it has ' + size(n) + ', more than the ' + size(most.file) + ' that a browser publishes; use the command line below, or leave the file out in ' + form.dataset.ignores + '.');

  // reading names the file that can't be read.
  const reading = async (item, read) => {
    try {
      return await read(await item.blob());
    } catch (e) {
      throw e instanceof Fault ? e : new Fault(item.path + ': it can’t be read, or it changed while it was read.');
    }
  };

  const bytes = (item) => reading(item, (blob) => {
    if (blob.size > most.file) throw tooLarge(item.path, blob.size);
    return blob.arrayBuffer();
  });

  const changed = (path) => new Fault(path + ': the file changed while it was read; publish the folder again.');

  const digest = async (data) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', data))].map((b) => b.toString(16).padStart(2, '0')).join('');

  // look returns the files of a source that are published, level by level: nobody looks
  // into folders that are left out.
  const look = async (source) => {
    const root = await source.read('');
    const text = async (name, bytes) => {
      const item = root.files.find((one) => one.path === name);
      return item ? reading(item, (blob) => blob.slice(0, bytes).text()) : '';
    };
    const ignores = await text(form.dataset.ignores, most.list), rules = await text(form.dataset.rules, Number(form.dataset.rulesBytes));
    const taken = [];
    for (let level = [root], first = true; level.length; first = false) {
      const folders = level.flatMap((one) => one.folders), files = level.flatMap((one) => one.files), enter = [];
      for (let i = 0; i < Math.max(folders.length, files.length) || first && i === 0; i += chunk) {
        const someFolders = folders.slice(i, i + chunk), someFiles = files.slice(i, i + chunk);
        const answer = await call('look', {
          ignores, rules, root: first && i === 0 && files.length <= chunk, folders: someFolders, files: someFiles.map((one) => one.path),
        });
        for (const n of answer.folders) enter.push(someFolders[n]);
        for (const n of answer.files) taken.push(someFiles[n]);
        say('Looking through the folder', count(taken.length, 'file', 'files'));
      }
      level = [];
      for (const path of enter) level.push(await source.read(path));
    }
    return taken;
  };

  // hash fills in sizes and digests.
  const hash = async (items) => {
    const large = [];
    let done = 0, left = held;
    const one = async (item) => {
      const data = await bytes(item);
      item.size = data.byteLength;
      item.sha256 = await digest(data);
      if (item.size <= heldFile && (left -= item.size) >= 0) item.data = data;
      say('Reading', (++done).toLocaleString('en') + ' of ' + count(items.length, 'file', 'files'), done, items.length);
    };
    await each(items, parallel, async (item) => {
      if (item.size === undefined) item.size = (await item.blob().catch(() => ({ size: 0 }))).size; // what can't be read says so when it is
      if (item.size > small) large.push(item);
      else await one(item);
    });
    await each(large, 1, one);
  };

  const nameOf = (pack) => pack[0].path + (pack.length > 1 ? ' and ' + count(pack.length - 1, 'other file', 'other files') : '');

  // seal returns the digest of a pack, once its files are found to be as they were.
  const seal = async (pack) => {
    if (pack.length === 1) return pack[0].sha256;
    const parts = [];
    for (const item of pack) {
      const data = item.data || await bytes(item);
      if (!item.data && await digest(data) !== item.sha256) throw changed(item.path);
      parts.push(data);
    }
    return digest(await new Blob(parts).arrayBuffer());
  };

  // put sends a pack once, and returns the status of the answer, 0 for none, and whether
  // storage found other bytes than were announced.
  const put = (upload, body, progress) => new Promise((done) => {
    const request = new XMLHttpRequest();
    let patience;
    const watch = (ms) => {
      clearTimeout(patience);
      patience = setTimeout(() => request.abort(), ms);
    };
    request.upload.onprogress = (event) => { progress(event.loaded); watch(60000); };
    request.upload.onload = () => watch(300000); // storage may take its time with the whole
    request.onload = () => done({ status: request.status, other: request.status === 400 && /BadDigest|Checksum|SHA256Mismatch/i.test(request.responseText) });
    request.onerror = request.onabort = () => done({ status: 0 });
    request.onloadend = () => clearTimeout(patience);
    request.open(upload.method, upload.url);
    for (const [name, value] of Object.entries(upload.headers)) request.setRequestHeader(name, value);
    watch(60000);
    request.send(body);
  });

  // send sends what is missing. It returns whether links ended before all was sent.
  const send = async (uploads, packs) => {
    const total = uploads.reduce((n, upload) => n + packs[upload.pack].reduce((m, item) => m + item.size, 0), 0);
    const sent = new Map();
    let ended = false;
    const progress = (pack, n) => {
      sent.set(pack, n);
      const all = [...sent.values()].reduce((a, b) => a + b, 0);
      say('Uploading', size(Math.min(all, total)) + ' of ' + size(total), all, total);
    };
    await each(uploads, parallel, async (upload) => {
      const pack = packs[upload.pack];
      const body = new Blob(await Promise.all(pack.map((item) => item.data || reading(item, (blob) => {
        if (blob.size !== item.size) throw changed(item.path);
        return blob;
      }))));
      for (let attempt = 1; !ended; attempt++) {
        const { status, other } = await put(upload, body, (n) => progress(upload.pack, n));
        if (status >= 200 && status < 300 || status === 412) { // 412: it is there already
          progress(upload.pack, body.size);
          return;
        }
        if (status === 403) { ended = true; return; }
        if (other) throw changed(nameOf(pack));
        if (attempt === tries) throw new Fault(nameOf(pack) + ': the upload failed ' + tries + ' times' + (status ? ', at last with ' + status : '') + '. Drop the folder again to send what is missing.');
        progress(upload.pack, 0);
        await wait(1000 * 2 ** (attempt - 1));
      }
    });
    return ended;
  };

  const publish = async (open) => {
    say('Looking through the folder', '');
    const source = await open();
    const items = await look(source);
    await hash(items);
    const files = items.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
    say('Comparing with what is published', '');
    const plan = await call('plan', { files });
    const packs = plan.packs.map((places) => places.map((n) => items[n]));
    let snapshot = plan.snapshot;
    const finish = async () => {
      say('Publishing', '');
      const done = await call('finish', { snapshot, once: plan.once });
      return { page: done.page, left: [...source.left || [], ...plan.leftOut] };
    };
    if (snapshot) return finish(); // it has the same files already
    const digests = [];
    for (const pack of packs) {
      digests.push(await seal(pack));
      say('Packing', digests.length + ' of ' + count(packs.length, 'pack', 'packs'), digests.length, packs.length);
    }
    for (let round = 1; ; round++) {
      const begun = await call('begin', { base: plan.base, files, packs: digests });
      snapshot = begun.snapshot;
      const ended = await send(begun.uploads, packs);
      if (ended && round < tries) continue;
      if (ended) throw new Fault('The links for uploads ended before all was sent. Drop the folder again to send what is missing.');
      try {
        return await finish();
      } catch (e) {
        if (e.code !== 'snapshot_incomplete' || round === tries) throw e;
      }
    }
  };

  // tell says which files were left out because they could not be published.
  const tell = (page, files) => {
    const box = document.getElementById('publish-left');
    for (const file of files) {
      const item = document.createElement('li');
      item.textContent = file;
      box.querySelector('ul').append(item);
    }
    box.querySelector('a').href = page;
    area.hidden = true;
    box.hidden = false;
    box.querySelector('a').focus();
  };

  let running = false;
  const leaving = (event) => event.preventDefault();
  const start = async (open) => {
    if (running) return;
    running = true;
    problem.hidden = true;
    form.hidden = true;
    area.hidden = false;
    document.getElementById('main').focus();
    phase = '';
    addEventListener('beforeunload', leaving);
    try {
      const { page, left } = await publish(open);
      removeEventListener('beforeunload', leaving);
      if (left.length) tell(page, left);
      else location.assign(page);
      return;
    } catch (e) {
      if (!(e instanceof Fault)) console.error(e);
      const title = document.createElement('h2'), text = document.createElement('p');
      title.textContent = 'This did not work';
      text.textContent = e instanceof Fault ? e.message : 'Something went wrong in this page. Try again, or use the command line below.';
      problem.replaceChildren(title, text);
      problem.hidden = false;
      problem.scrollIntoView({ block: 'center' });
    }
    removeEventListener('beforeunload', leaving);
    running = false;
    area.hidden = true;
    form.hidden = false;
    form.reset();
  };

  const isZip = (file) => /\.zip$/i.test(file.name) || file.type === 'application/zip';
  const startZip = (file) => start(async () => ofZip(file));
  document.getElementById('folder').addEventListener('change', (event) => {
    const files = [...event.target.files];
    if (files.length) start(async () => ofInput(files));
  });
  document.getElementById('zip').addEventListener('change', (event) => {
    if (event.target.files.length) startZip(event.target.files[0]);
  });
  for (const name of ['dragover', 'drop']) { // a browser would open what is dropped beside the field
    addEventListener(name, (event) => { if (event.dataTransfer && event.dataTransfer.types.includes('Files')) event.preventDefault(); });
  }
  form.addEventListener('dragover', () => form.classList.add('over'));
  form.addEventListener('dragleave', (event) => { if (!form.contains(event.relatedTarget)) form.classList.remove('over'); });
  form.addEventListener('drop', (event) => {
    form.classList.remove('over');
    const dropped = [...event.dataTransfer.items].filter((item) => item.kind === 'file');
    const entries = dropped.map((item) => item.webkitGetAsEntry()).filter((entry) => entry);
    const file = dropped.length === 1 ? dropped[0].getAsFile() : null;
    if (entries.length === 1 && entries[0].isFile && file && isZip(file)) startZip(file);
    else if (entries.length) start(async () => ofEntries(entries));
  });

  if (window.crypto && crypto.subtle) {
    form.hidden = false;
  } else {
    problem.textContent = 'A browser can compare files with what is published only over https, or on the server’s own machine. Open the dashboard by such an address, or use the command line below.';
    problem.hidden = false;
  }
})();
