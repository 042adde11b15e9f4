import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, basename, resolve } from 'node:path'
import type { RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import sirv from 'sirv'
import { z } from 'zod'
import { BuildInfo } from '#proto/http/build.ts'
import { DocPage } from '#proto/http/docs.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, textSetting } from '#shared/config/setting.ts'
import { HttpError } from '../response/http-exchange.ts'
import { setFixedHeaders } from '../server/receive.ts'
import type { HeaderLines } from '../server/security-headers.ts'

const immutable = 'public, max-age=31536000, immutable'
const revalidated = 'no-cache'

/**
 * Serves the precompressed web build. Every path that is not a file returns the start page, whose router handles the
 * path. Names of files under `_app/immutable` contain a hash of their content.
 *
 * The web UI can be rebuilt while it is served. The list of files and the headers that allow scripts belong to one
 * build, so each request for a page checks for a newer build.
 */
export const serveWeb = (directory: string, headersOf: (indexHtml: string) => HeaderLines): RequestHandler => {
  let build = openBuild(directory, headersOf)
  return (request, response, next) => {
    requireReadMethod(request.method, response)
    // Pages and files are small, so ranges are ignored.
    delete request.headers.range
    if (!looksLikeFile.test(request.path)) {
      if (stampOf(directory) !== build.stamp) build = openBuild(directory, headersOf)
      setFixedHeaders(response, build.headers)
    }
    // If a new build removes the file, the response is aborted. Without a handler, the error would end the process.
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
    // A path that looks like a file never returns the start page.
    ignores: [looksLikeFile],
    setHeaders: (response, path) =>
      response.setHeader('Cache-Control', path.startsWith('/_app/immutable/') ? immutable : revalidated),
  })
  const index = join(directory, 'index.html')
  return { stamp, headers: headersOf(existsSync(index) ? readFileSync(index, 'utf8') : ''), files }
}

/**
 * Returns a fingerprint of the web build. It changes when the start page is written, and again when the build is
 * complete.
 */
const stampOf = (directory: string): string =>
  ['index.html', 'build.json']
    .map((file) => statSync(join(directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 'absent')
    .join(' ')

const missingBuildPage = `<!doctype html><meta charset="utf-8"><title>Watchhouse</title>
<h1>The web UI is not built</h1><p>Run <code>npm start</code>, which builds it, or <code>npm run build -w web</code> and start again.
The API under <code>/api</code> works.</p>
`

/** Serves a page with instructions while the web UI is not built. */
export const serveBuildInstructions: RequestHandler = (request, response) => {
  requireReadMethod(request.method, response)
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  response.statusCode = 503
  response.end(missingBuildPage)
}

const requireReadMethod = (method: string, response: Response): void => {
  if (method === 'GET' || method === 'HEAD') return
  response.setHeader('Allow', 'GET, HEAD')
  throw new HttpError(405, 'method-not-allowed', 'method not allowed; allowed: GET, HEAD')
}

/** Settings of the served web build. */
export const webSettings = {
  SVC_WEB_DIRECTORY: textSetting(
    'web/build',
    'Folder of the built web UI, relative to the product folder. Set it to serve a build with other build-time variables.',
  ),
} as const

const root = join(import.meta.dirname, '../../..')

/** Returns the absolute path of the web build. */
export const resolveWebDirectory = (env: Environment): string =>
  resolve(root, parseSettings(webSettings, env).SVC_WEB_DIRECTORY)

/** A web build; everything is undefined or empty while the web UI is not built. */
export interface WebBuild {
  directory: string | undefined
  /** The start page; the security headers allow its inline scripts. */
  indexHtml: string | undefined
  /** Facts about the build; undefined also if the file that contains them has the format of another release. */
  facts: BuildInfo | undefined
  /**
   * The documentation in the build. The name of its file starts with a dot, so that it is not served without access
   * checks.
   */
  docs: readonly DocPage[]
}

/** Reads the start page, facts and documentation of the web build in a folder. */
export const openWebBuild = (directory: string, log: Logger): WebBuild => {
  const indexHtml = readText(join(directory, 'index.html'))
  if (indexHtml === undefined) {
    log.warn('web UI is not built; run npm start')
    return { directory: undefined, indexHtml, facts: undefined, docs: [] }
  }
  return {
    directory,
    indexHtml,
    facts: readBuilt(join(directory, 'build.json'), BuildInfo, log),
    docs: readBuilt(join(directory, '.docs.json'), z.array(DocPage), log) ?? [],
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
    log.warn({ err: error, file: basename(path) }, 'reading a file of the web build failed; rebuild the web UI')
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
