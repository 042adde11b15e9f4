import type { RequestHandler, Response } from 'express'
import sirv from 'sirv'
import { HttpError } from './http-error.ts'

const immutable = 'public, max-age=31536000, immutable'
const revalidated = 'no-cache'

/**
 * Serves the web build, precompressed; every path that is no file is a page of the web, which finds its own way.
 * Files under `_app/immutable` carry a hash of their content in their name.
 */
export const serveWeb = (directory: string): RequestHandler => {
  const files = sirv(directory, {
    etag: true,
    brotli: true,
    gzip: true,
    single: 'index.html',
    // What looks like a file is one or is not there; it is no page.
    ignores: [/\/[^/]*\.[^/]*$/],
    setHeaders: (response, path) =>
      response.setHeader('Cache-Control', path.startsWith('/_app/immutable/') ? immutable : revalidated),
  })
  return (request, response, next) => {
    refuseWriting(request.method, response)
    // Pages and their files are small: a range would only be a way to ask for nonsense.
    delete request.headers.range
    // A file that a new build took away must end its own answer, not the process.
    response.once('pipe', (file) => file.once('error', () => response.destroy()))
    files(request, response, next)
  }
}

const unbuilt = `<!doctype html><meta charset="utf-8"><title>Watchhouse</title>
<h1>The web is not built</h1><p>Run <code>npm start</code>, which builds it, or <code>npm run build -w web</code> and start again.
The API under <code>/api</code> works.</p>
`

/** What people see in place of a web that was not built. */
export const serveUnbuiltPage: RequestHandler = (request, response) => {
  refuseWriting(request.method, response)
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  response.statusCode = 503
  response.end(unbuilt)
}

const refuseWriting = (method: string, response: Response): void => {
  if (method === 'GET' || method === 'HEAD') return
  response.setHeader('Allow', 'GET, HEAD')
  throw new HttpError(405, 'method-not-allowed', 'pages are only read: GET or HEAD')
}
