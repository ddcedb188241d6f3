// The Nest module of the worker. It serves nothing but the status pages, which are middleware: a worker has no clients.
import { Module } from '@nestjs/common';

@Module({})
export class WorkerModule {}
