import type { Request, Response } from 'express'
import { giveBack } from '#shared/bus/give-back.ts'
import { sendFrames } from './send-stream.ts'

/** A file on its way, and what is only known after its last byte. */
export interface Download {
  fileName: string
  contentType: string
  /** Nobody else reads them: their memory is given back once they are sent. */
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
    ...(hasChunks(request) && { Trailer: trailerNames.join(', ') }),
  }
  await sendFrames(request, response, head, withTrailers(response, download))
}

/** Trailers need chunks, which HTTP/1.0 does not know and an answer without a body has not. */
const hasChunks = ({ httpVersion, method }: Request): boolean => httpVersion !== '1.0' && method !== 'HEAD'

async function* withTrailers(
  response: Response,
  { frames, trailers }: Download,
): AsyncGenerator<Uint8Array, void, void> {
  yield* givenBack(response, frames)
  if (response.hasHeader('Trailer')) response.addTrailers(trailers())
}

/** Frames fill about one write of the socket each, so that two are under way at most. */
const underWay = 2

async function* givenBack(
  response: Response,
  frames: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let written: Uint8Array[] = []
  const onSent = (): void => {
    // What is compressed may still be read when all that was written has left; what waits for the socket has not left yet.
    if (!response.hasHeader('Content-Encoding') && response.writableLength === 0) written.forEach(giveBack)
    written = []
  }
  response.on('drain', onSent)
  try {
    for await (const frame of frames) {
      // Small frames leave without a word and are left to the collector.
      written = [...written.slice(1 - underWay), frame]
      yield frame
    }
  } finally {
    response.off('drain', onSent)
    response.once('finish', onSent)
  }
}
