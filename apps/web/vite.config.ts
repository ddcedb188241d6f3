// Builds the page into dist/apps/web, from where the gateway serves it.
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const gateway = 'http://127.0.0.1:17300';

const ROUTES = /\/libs\/protocol\/src\/rest-[\w-]+(?:\.schema)?\.ts$/;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  // `source` makes #kernel and #protocol mean their TypeScript; Vite replaces "development|production" by the mode.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: '../../dist/apps/web',
    emptyOutDir: true,
    target: 'es2023',
    // The table of HTTP routes makes schemas when it is loaded, which would keep it in a page that has no use for it.
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !ROUTES.test(id) } },
  },
  server: { port: 17173, proxy: { '/socket.io': { target: gateway, ws: true }, '/api': gateway } },
});
