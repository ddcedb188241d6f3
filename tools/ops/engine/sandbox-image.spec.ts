// The name of the sandbox image, which is the key of its cache.
import { sandboxImageName, type ImageInputs } from './sandbox-image.ts';

const inputs: ImageInputs = { cacheDir: '/c', base: undefined, certificates: [] };
const certificate = { fileName: 'extra-1.crt', pem: 'PEM' };

it('OPS-13 names the image by what decides its content, and by nothing else', () => {
  const name = sandboxImageName(inputs);
  expect(name).toMatch(/^gantry-sandbox:[0-9a-f]{16}$/);
  expect(sandboxImageName({ ...inputs, cacheDir: '/other' })).toBe(name);
  expect(sandboxImageName({ ...inputs, base: 'debian:12' })).not.toBe(name);
  expect(sandboxImageName({ ...inputs, certificates: [certificate] })).not.toBe(name);
});
