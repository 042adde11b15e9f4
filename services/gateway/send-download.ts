import type { Request, Response } from 'express'
import { sendFrames } from './send-frames.ts'

/** A file on its way, and what is only known after its last byte. */
export interface Download {
  fileName: string
  contentType: string
  frames: AsyncIterable<Uint8Array>
  /** Sent as trailers. */
  trailers: () => Readonly<Record<string, string>>
  trailerNames: readonly string[]
}

/** Answers with a file as its bytes come, no faster than the caller reads; a caller who leaves ends the frames. */
export const sendDownload = async (request: Request, response: Response, download: Download): Promise<void> => {
  const { fileName, contentType, trailerNames } = download
  const head = {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    // Trailers need chunks, which HTTP/1.0 does not know.
    ...(request.httpVersion !== '1.0' && { Trailer: trailerNames.join(', ') }),
  }
  await sendFrames(request, response, head, withTrailers(response, download))
}

async function* withTrailers(
  response: Response,
  { frames, trailers }: Download,
): AsyncGenerator<Uint8Array, void, void> {
  yield* frames
  if (response.hasHeader('Trailer')) response.addTrailers(trailers())
}
