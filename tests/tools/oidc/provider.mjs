// An OpenID provider for tests: oidc-provider, which is certified, with its own
// pages for development, on which everybody is who they say. Its first argument is
// the folder of its library, the second what it is, as JSON: port, client, secret,
// redirect, and the groups of people by their names.
import { pathToFileURL } from 'node:url';

const [modules, text] = process.argv.slice(2);
const { port, client, secret, redirect, groups } = JSON.parse(text);
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: client, client_secret: secret, redirect_uris: [redirect] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  cookies: { keys: ['tests'] },
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: id, email: `${id}@example.com`, email_verified: true, groups: groups?.[id] ?? [] }),
  }),
});
provider.listen(port, '127.0.0.1', () => console.log('listening'));
