export const Greeting = ({ name }) => <p className="font-bold">Hello {name}</p>;
