import type { SettingProblem } from '#shared/config/setting.ts'
import { hostList, type HostList } from './host-list.ts'

interface Written {
  COLUMNDB_HOST: string | undefined
  COLUMNDB_USER: string
  COLUMNDB_PASSWORD: string | undefined
  COLUMNDB_NAME: string | undefined
}

/**
 * The host list of the small form. With one host every value is taken whole, commas included; with several, a user or
 * password counts for all, or there is one per position.
 */
export const hostsFromEnvironment = (written: Written): HostList => {
  const urls = separated(written.COLUMNDB_HOST ?? '')
  const users = perHost('COLUMNDB_USER', written.COLUMNDB_USER, urls.length)
  const passwords = perHost('COLUMNDB_PASSWORD', written.COLUMNDB_PASSWORD ?? '', urls.length, (text) =>
    text.split(','),
  )
  const labels = urls.length === 1 ? [written.COLUMNDB_NAME] : (written.COLUMNDB_NAME ?? '').split(',')
  const entries = urls.map((url, position) => ({
    url,
    label: labels[position],
    user: users.values[position] ?? '',
    password: passwords.values[position] ?? '',
  }))
  const list = hostList('COLUMNDB_HOST', entries)
  const counts = [...users.problems, ...passwords.problems, ...tooMany(labels.length, urls.length)]
  return { ...list, problems: [...counts, ...list.problems] }
}

/** Items without the blanks around them; a comma at the end names no further host. */
const separated = (text: string): string[] =>
  text
    .replace(/,\s*$/, '')
    .split(',')
    .map((item) => item.trim())

interface PerHost {
  values: string[]
  problems: SettingProblem[]
}

const perHost = (name: string, text: string, hosts: number, split = separated): PerHost => {
  const values = hosts === 1 ? [text] : split(text)
  if (values.length === 1) return { values: Array.from({ length: hosts }, () => values[0] ?? ''), problems: [] }
  if (values.length === hosts) return { values, problems: [] }
  const sentence = `holds ${values.length} comma-separated values for ${hosts} hosts; give one for all or one per host`
  return { values: [], problems: [{ name, sentence: `${sentence} (a comma within a value needs SVC_HOSTS_FILE)` }] }
}

const tooMany = (labels: number, hosts: number): SettingProblem[] =>
  labels > hosts ? [{ name: 'COLUMNDB_NAME', sentence: `holds ${labels} labels for ${hosts} hosts` }] : []
