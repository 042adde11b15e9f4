import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { z } from 'zod'
import { BuildFacts } from '#proto/http/build.ts'
import { DocText } from '#proto/http/docs.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, text } from '#shared/config/setting.ts'

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
