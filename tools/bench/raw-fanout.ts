// The baseline of the fan-out: a bare socket.io server that sends what it reads from a Redis channel to a room, and nothing else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { Server } from 'socket.io';

const [channel = '', redisUrl = ''] = process.argv.slice(2);
const http = createServer();
const io = new Server(http, { transports: ['websocket'], serveClient: false });
io.on('connection', (socket) => {
  void socket.join('room');
  socket.on('join', (acknowledge: (answer: unknown) => void) => {
    acknowledge({ ok: true });
  });
});
const redis = new Redis(redisUrl);
await redis.subscribe(channel);
redis.on('message', (_channel, message) => {
  io.to('room').emit('delta', JSON.parse(message));
});
http.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (http.address() as AddressInfo).port });
});
process.once('disconnect', () => {
  process.exit(0);
});
