// What is wrong with bytes that the other end sent. Both ends drop the connection on it: after one bad frame none can be trusted.
import { AppError } from '#kernel';

export class WireError extends AppError {
  constructor(problem: string, cause?: unknown) {
    super('sandbox.protocol', `The sandbox wire was broken: ${problem}.`, { cause });
  }
}
