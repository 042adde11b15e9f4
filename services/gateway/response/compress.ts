import compression from 'compression'
import type { Request, Response } from 'express'

/** Below this an answer fits few packets, and compressing it would cost more than it saves. */
export const compressFromBytes = 4_096

const middleware = compression({ threshold: 0 })

/** Lets whatever is written from now on be compressed as the caller accepts; small answers never come here and pay nothing. */
export const compress = (request: Request, response: Response, write: () => void): void => {
  middleware(request, response, write)
}
