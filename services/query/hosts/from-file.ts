import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { NoYaml, parseYaml } from '#shared/config/yaml.ts'
import { sentenceOf } from '#shared/text/sentence-of.ts'
import { describeIssues } from '../definitions/describe-issues.ts'
import { type HostEntry, hostList, type HostList } from './host-list.ts'

const variable = 'SVC_HOSTS_FILE'

const Entry = z.strictObject({
  url: z.string(),
  label: z.string().optional(),
  user: z.string().default('default'),
  /** Path of a file that holds the password; relative to the host file. */
  passwordFile: z.string().optional(),
  group: z.string().max(128).optional(),
  /** Where the Keeper node beside the host gives its figures to Prometheus. */
  keeperMetrics: z.string().optional(),
  tags: z.array(z.string().max(128)).max(50).default([]),
})
const File = z.strictObject({ hosts: z.array(Entry).min(1) })

/** The host list of the fleet form, with every file it was read from. */
export interface FileHostList extends HostList {
  files: readonly string[]
}

/** Reads a host file and the password files it names. */
export const hostsFromFile = (path: string): FileHostList => {
  const refuse = (sentence: string): FileHostList => ({
    hosts: [],
    problems: [{ name: variable, sentence }],
    files: [path],
  })
  const content = readYaml(path)
  if ('failure' in content) return refuse(content.failure)
  const parsed = File.safeParse(content.value, { error: sentenceOf })
  if (!parsed.success) return refuse(`${path}: ${describeIssues(parsed.error)}`)

  const passwordFiles = parsed.data.hosts.flatMap((entry) =>
    entry.passwordFile ? [beside(path, entry.passwordFile)] : [],
  )
  const files = [path, ...new Set(passwordFiles)]
  try {
    return {
      ...hostList(
        variable,
        parsed.data.hosts.map((entry) => withPassword(path, entry)),
      ),
      files,
    }
  } catch (error) {
    return { ...refuse(`${path}: a password file cannot be read (${codeOf(error)})`), files }
  }
}

const readYaml = (path: string): { value: unknown } | { failure: string } => {
  try {
    return { value: parseYaml(readFileSync(path, 'utf8')) }
  } catch (error) {
    return { failure: `${path}: cannot be read as YAML (${codeOf(error)})` }
  }
}

const withPassword = (path: string, { passwordFile, ...entry }: z.output<typeof Entry>): HostEntry => ({
  ...entry,
  password: passwordFile ? readFileSync(beside(path, passwordFile), 'utf8').replace(/\r?\n$/, '') : '',
})

const beside = (path: string, file: string): string => resolve(dirname(path), file)

const codeOf = (error: unknown): string => {
  if (error instanceof NoYaml) return error.line === undefined ? 'malformed' : `malformed from line ${error.line} on`
  return error instanceof Error && 'code' in error ? String(error.code) : 'malformed'
}
