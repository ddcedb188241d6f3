// Which pages may open a websocket.
import { isOriginAllowed } from './origin.js';

const loopback = { allowed: [], tls: false, host: '127.0.0.1' };
const anywhere = { allowed: ['https://gantry.example.org'], tls: false, host: '0.0.0.0' };

it.each([
  ['no Origin at all', undefined, '127.0.0.1:7420', loopback, true],
  ['its own page', 'http://127.0.0.1:7420', '127.0.0.1:7420', loopback, true],
  ['its own page by name', 'http://localhost:7420', 'localhost:7420', loopback, true],
  ['another port of the machine', 'http://127.0.0.1:9999', '127.0.0.1:7420', loopback, false],
  ['a name that was rebound to loopback', 'http://evil.example:7420', 'evil.example:7420', loopback, false],
  ['a foreign page', 'https://evil.example', '127.0.0.1:7420', loopback, false],
  ['a sandboxed frame', 'null', '127.0.0.1:7420', loopback, false],
  ['the same host over another scheme', 'https://127.0.0.1:7420', '127.0.0.1:7420', loopback, false],
  ['an Origin that is no URL', 'http://', '127.0.0.1:7420', loopback, false],
  ['no Host header', 'http://127.0.0.1:7420', undefined, loopback, false],
  ['a listed origin behind a proxy', 'https://gantry.example.org', '10.0.0.3:7420', anywhere, true],
  ['a listed name with another port', 'https://gantry.example.org:444', '10.0.0.3:7420', anywhere, false],
  ['a name in the network', 'http://devbox:7420', 'devbox:7420', anywhere, true],
  ['a name that ends alike', 'http://evil-devbox:7420', 'devbox:7420', anywhere, false],
  ['the default port left out', 'http://devbox', 'devbox:80', anywhere, true],
] as const)('GW-3 %s', (_, origin, host, rules, allowed) => {
  expect(isOriginAllowed({ origin, host }, rules)).toBe(allowed);
});
