import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, text } from '#shared/config/setting.ts'

/** Which web is served. */
export const webSettings = {
  SVC_WEB_DIRECTORY: text(
    'web/build',
    "Folder of the built web, from the product's own. Another build is another choice of build-time variables.",
  ),
} as const

const root = join(import.meta.dirname, '../..')

/** The folder of the web that the operator wants served. */
export const webDirectory = (env: Environment): string => resolve(root, read(webSettings, env).SVC_WEB_DIRECTORY)

/** The web as it was built; all is absent when it was not. */
export interface WebBuild {
  directory: string | undefined
  /** The start page, whose inline scripts the security headers allow. */
  indexHtml: string | undefined
  /** Undefined also when another release wrote facts that this one cannot read. */
  facts: BuildFacts | undefined
}

/** Reads what the gateway needs to know of the web build in a folder. */
export const openWebBuild = (directory: string, log: Logger): WebBuild => {
  const indexHtml = readText(join(directory, 'index.html'))
  if (indexHtml === undefined) {
    log.warn('the web is not built; npm start builds it')
    return { directory: undefined, indexHtml, facts: undefined }
  }
  return { directory, indexHtml, facts: readFacts(join(directory, 'build.json'), log) }
}

const readFacts = (path: string, log: Logger): BuildFacts | undefined => {
  try {
    return BuildFacts.parse(JSON.parse(readText(path) ?? ''))
  } catch (error) {
    log.warn({ err: error }, 'build.json of the web build cannot be read; build the web again')
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
