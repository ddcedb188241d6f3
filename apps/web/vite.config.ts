// Builds the page into dist/apps/web, from where the gateway serves it.
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const gateway = 'http://127.0.0.1:17300';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  // `source` makes #kernel and #protocol mean their TypeScript; Vite replaces "development|production" by the mode.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: { outDir: '../../dist/apps/web', emptyOutDir: true, target: 'es2023' },
  server: { port: 17173, proxy: { '/socket.io': { target: gateway, ws: true }, '/api': gateway } },
});
