import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import type { SettingProblem } from '#shared/config/setting.ts'
import { YamlError, parseYaml } from '#shared/config/yaml.ts'
import { describeIssue } from '#shared/text/zod-errors.ts'
import { describeIssues } from '../definitions/describe-issues.ts'
import { validateHostList, type HostList, type HostEntry } from './host-list.ts'

interface HostVariables {
  COLUMNDB_HOST: string | undefined
  COLUMNDB_USER: string
  COLUMNDB_PASSWORD: string | undefined
  COLUMNDB_NAME: string | undefined
}

/**
 * Parses the host list from the `COLUMNDB_*` variables. With a single host, commas are part of the values. With several
 * hosts, users and passwords are a single value for all hosts or one value per host.
 */
export const parseHostVariables = (variables: HostVariables): HostList => {
  const urls = splitItems(variables.COLUMNDB_HOST ?? '')
  const users = perHost('COLUMNDB_USER', variables.COLUMNDB_USER, urls.length)
  const passwords = perHost('COLUMNDB_PASSWORD', variables.COLUMNDB_PASSWORD ?? '', urls.length, (text) =>
    text.split(','),
  )
  const labels = urls.length === 1 ? [variables.COLUMNDB_NAME] : (variables.COLUMNDB_NAME ?? '').split(',')
  const entries = urls.map((url, position) => ({
    url,
    label: labels[position],
    user: users.values[position] ?? '',
    password: passwords.values[position] ?? '',
  }))
  const list = validateHostList('COLUMNDB_HOST', entries)
  const counts = [...users.problems, ...passwords.problems, ...tooMany(labels.length, urls.length)]
  return { ...list, problems: [...counts, ...list.problems] }
}

/** Returns the trimmed items; a trailing comma adds none. */
const splitItems = (text: string): string[] =>
  text
    .replace(/,\s*$/, '')
    .split(',')
    .map((item) => item.trim())

interface PerHost {
  values: string[]
  problems: SettingProblem[]
}

const perHost = (name: string, text: string, hosts: number, split = splitItems): PerHost => {
  const values = hosts === 1 ? [text] : split(text)
  if (values.length === 1) return { values: Array.from({ length: hosts }, () => values[0] ?? ''), problems: [] }
  if (values.length === hosts) return { values, problems: [] }
  const sentence = `has ${values.length} comma-separated values for ${hosts} hosts; set one for all or one per host`
  return { values: [], problems: [{ name, sentence: `${sentence} (a comma within a value needs SVC_HOSTS_FILE)` }] }
}

const tooMany = (labels: number, hosts: number): SettingProblem[] =>
  labels > hosts
    ? [{ name: 'COLUMNDB_NAME', sentence: `has ${labels} labels for ${hosts} hosts; set at most one per host` }]
    : []

const variable = 'SVC_HOSTS_FILE'

const Entry = z.strictObject({
  url: z.string(),
  label: z.string().optional(),
  user: z.string().default('default'),
  /** Path of the password file, relative to the host file. */
  passwordFile: z.string().optional(),
  group: z.string().max(128).optional(),
  /** Prometheus endpoint of the Keeper node of the host. */
  keeperMetrics: z.string().optional(),
  tags: z.array(z.string().max(128)).max(50).default([]),
})
const File = z.strictObject({ hosts: z.array(Entry).min(1) })

/** A host list with the paths of the host file and its password files. */
interface FileHostList extends HostList {
  files: readonly string[]
}

/** Reads a host file and its password files. */
export const readHostFile = (path: string): FileHostList => {
  const reject = (sentence: string): FileHostList => ({
    hosts: [],
    problems: [{ name: variable, sentence }],
    files: [path],
  })
  const content = readYaml(path)
  if ('failure' in content) return reject(content.failure)
  const parsed = File.safeParse(content.value, { error: describeIssue })
  if (!parsed.success) return reject(`${path}: ${describeIssues(parsed.error)}`)

  const passwordFiles = parsed.data.hosts.flatMap((entry) =>
    entry.passwordFile ? [resolveFrom(path, entry.passwordFile)] : [],
  )
  const files = [path, ...new Set(passwordFiles)]
  try {
    return {
      ...validateHostList(
        variable,
        parsed.data.hosts.map((entry) => withPassword(path, entry)),
      ),
      files,
    }
  } catch (error) {
    return { ...reject(`${path}: a password file cannot be read (${codeOf(error)})`), files }
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
  password: passwordFile ? readFileSync(resolveFrom(path, passwordFile), 'utf8').replace(/\r?\n$/, '') : '',
})

const resolveFrom = (path: string, file: string): string => resolve(dirname(path), file)

const codeOf = (error: unknown): string => {
  if (error instanceof YamlError) return error.line === undefined ? 'malformed' : `malformed from line ${error.line} on`
  return error instanceof Error && 'code' in error ? String(error.code) : 'malformed'
}
