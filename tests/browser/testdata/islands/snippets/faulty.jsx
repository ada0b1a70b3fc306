export const NoList = ({ list }) => {
  return <ul>{list.map((x) => <li>{x}</li>)}</ul>;
};

export const Endless = () => {
  const [n] = useState(0);
  for (;;) {}
};

export const Huge = () => {
  const [all] = useState(() => { const list = []; for (;;) list.push('x'.repeat(1 << 20) + list.length); });
  return all.length;
};

export const AtOnce = () => {
  const [bytes] = useState(() => new Uint8Array(1 << 30).join(''));
  return bytes;
};

export const Wide = () => {
  const [width] = useState(window.innerWidth);
  return <p>{width}</p>;
};
