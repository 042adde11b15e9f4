import type { Response } from 'express'

/**
 * Ends an answer with all of its body once the present turn of the event loop is over. All answers that one turn makes ready leave
 * together then, so that a caller that sleeps is woken once and not for each.
 */
export const end = (response: Response, body: string | Buffer): void => void setImmediate(() => response.end(body))
