import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, basename, resolve } from 'node:path'
import type { RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import sirv from 'sirv'
import { z } from 'zod'
import { BuildFacts } from '#proto/http/build.ts'
import { DocText } from '#proto/http/docs.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, text } from '#shared/config/setting.ts'
import { HttpError } from '../response/http-exchange.ts'
import { setAll } from '../server/receive.ts'
import type { HeaderLines } from '../server/security-headers.ts'

const immutable = 'public, max-age=31536000, immutable'
const revalidated = 'no-cache'

/**
 * Serves the web build, precompressed; every path that is no file is a page of the web, which finds its own way.
 * Files under `_app/immutable` carry a hash of their content in their name.
 *
 * A build may be made anew while it is served. What is known of its files, and the headers that allow its scripts, are those of
 * one build, so a page is asked for at the newest.
 */
export const serveWeb = (directory: string, headersOf: (indexHtml: string) => HeaderLines): RequestHandler => {
  let build = openBuild(directory, headersOf)
  return (request, response, next) => {
    refuseWriting(request.method, response)
    // Pages and their files are small: a range would only be a way to ask for nonsense.
    delete request.headers.range
    if (!looksLikeFile.test(request.path)) {
      if (stampOf(directory) !== build.stamp) build = openBuild(directory, headersOf)
      setAll(response, build.headers)
    }
    // A file that a new build took away must end its own answer, not the process.
    response.once('pipe', (file) => file.once('error', () => response.destroy()))
    build.files(request, response, next)
  }
}

const looksLikeFile = /\/[^/]*\.[^/]*$/

interface Build {
  stamp: string
  headers: HeaderLines
  files: RequestHandler
}

const openBuild = (directory: string, headersOf: (indexHtml: string) => HeaderLines): Build => {
  const stamp = stampOf(directory)
  const files = sirv(directory, {
    etag: true,
    brotli: true,
    gzip: true,
    single: 'index.html',
    // What looks like a file is one or is not there; it is no page.
    ignores: [looksLikeFile],
    setHeaders: (response, path) =>
      response.setHeader('Cache-Control', path.startsWith('/_app/immutable/') ? immutable : revalidated),
  })
  const index = join(directory, 'index.html')
  return { stamp, headers: headersOf(existsSync(index) ? readFileSync(index, 'utf8') : ''), files }
}

/** Changes when the start page is written, and once more when the build is whole: its facts come last. */
const stampOf = (directory: string): string =>
  ['index.html', 'build.json']
    .map((file) => statSync(join(directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 'absent')
    .join(' ')

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

/** Which web is served. */
export const webSettings = {
  SVC_WEB_DIRECTORY: text(
    'web/build',
    "Folder of the built web, from the product's own. Another build is another choice of build-time variables.",
  ),
} as const

const root = join(import.meta.dirname, '../../..')

/** The folder of the web that the operator wants served. */
export const webDirectory = (env: Environment): string => resolve(root, read(webSettings, env).SVC_WEB_DIRECTORY)

/** The web as it was built; all is absent when it was not. */
export interface WebBuild {
  directory: string | undefined
  /** The start page, whose inline scripts the security headers allow. */
  indexHtml: string | undefined
  /** Undefined also when another release wrote facts that this one cannot read. */
  facts: BuildFacts | undefined
  /** The documentation that was built in. Its file begins with a dot, so that it is not served past who may read it. */
  docs: readonly DocText[]
}

/** Reads what the gateway needs to know of the web build in a folder. */
export const openWebBuild = (directory: string, log: Logger): WebBuild => {
  const indexHtml = readText(join(directory, 'index.html'))
  if (indexHtml === undefined) {
    log.warn('the web is not built; npm start builds it')
    return { directory: undefined, indexHtml, facts: undefined, docs: [] }
  }
  return {
    directory,
    indexHtml,
    facts: readBuilt(join(directory, 'build.json'), BuildFacts, log),
    docs: readBuilt(join(directory, '.docs.json'), z.array(DocText), log) ?? [],
  }
}

const readBuilt = <Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  log: Logger,
): z.output<Schema> | undefined => {
  try {
    return schema.parse(JSON.parse(readText(path) ?? ''))
  } catch (error) {
    log.warn({ err: error, file: basename(path) }, 'a file of the web build cannot be read; build the web again')
    return undefined
  }
}

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
