import data from '/snippets/data.json';

export const Boxes = ({ title, children }) => {
  const [open, setOpen] = useState(true);
  const [times, setTimes] = useState(0);
  return (
    <>
      <button className="toggle" onClick={() => { setOpen(!open); setTimes(times + 1); }}>{open ? 'Hide' : 'Show'}</button>
      <Card title={title} icon="rocket" href="/state">Toggled {times} times</Card>
      {open && <Note>A note with <a href="/deep/nested">a link</a> and {times}</Note>}
      {open && children}
      <ul>{data.links.map((l) => <li key={l.to}><a href={l.to}>{l.name}</a></li>)}</ul>
    </>
  );
};

export const Choices = () => {
  const [n, setN] = useState(1);
  return (
    <div>
      <button className="more" onClick={() => setN(n + 1)}>More: {n}</button>
      <Tabs><Tab title="First">One</Tab><Tab title="Second">Two</Tab></Tabs>
      <Steps><Step title="Begin">Do</Step><Step title="End">Done</Step></Steps>
    </div>
  );
};

// Reveal shows what it holds after a click only.
export const Reveal = ({ children }) => {
  const [open, setOpen] = useState(false);
  return (
    <div className="reveal">
      <button aria-expanded={open} onClick={() => setOpen(!open)}>Answer</button>
      {open && <div className="rounded-[11px]">{children}</div>}
    </div>
  );
};
