// The id that follows one request from the handshake through the job to the container's label. It is passed on explicitly:
// hidden context is lost in queues and workers, a parameter is not.
import { newId } from '#kernel';

/** A fresh correlation id: a UUIDv7 in lower case. */
export const newCorrelationId = (): string => newId();
