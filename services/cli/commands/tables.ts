import { Command } from 'commander'
import { type CommandContext, openSession, type Session } from '../context.ts'
import { hostOption, selectHost, type HostEntry, type HostOptions } from '../hosts.ts'
import { createPageColumns } from '../output/cells.ts'
import { formatCount } from '../output/format.ts'
import { formatExamples, readLastMinutes, readWholeNumber } from '../options.ts'

interface TablesOptions extends HostOptions {
  pages?: boolean
  search?: string
  filter?: string[]
  sort?: string
  limit: string
  last?: string
}

const collect = (value: string, previous: string[] = []): string[] => [...previous, value]
/** Most rows of one request; more are fetched in further pages. */
const maxPageRows = 1_000

/** Lists the tables of a host, the table pages, or the rows of one. */
export const createTablesCommand = (context: CommandContext): Command =>
  new Command('tables')
    .description('list the tables of a host, or the rows of a table page such as slow-queries')
    .argument('[page]', 'name of a table page')
    .addOption(hostOption())
    .option('--pages', 'list the table pages')
    .option('--search <text>', 'only rows that contain the text')
    .option('--filter <condition>', 'column.operator.value, such as user.eq.ada; can be repeated', collect)
    .option('--sort <column>', 'column.asc or column.desc')
    .option('--limit <rows>', 'maximum number of rows', '50')
    .option('--last <duration>', 'time range of a page with history, such as 30m, 6h or 7d')
    .addHelpText(
      'after',
      formatExamples(
        'watchhouse tables --search orders',
        'watchhouse tables --pages',
        'watchhouse tables slow-queries --last 1h --filter user.eq.ada --sort duration.desc',
      ),
    )
    .action(async (page: string | undefined, options: TablesOptions, command) => {
      const limit = readWholeNumber('--limit', options.limit, 1_000_000)
      const lastMinutes = readLastMinutes(options.last)
      const session = openSession(context, command)
      if (options.pages) return listPages(session, options.search)
      const host = await selectHost(session.client, options)
      if (page === undefined) return listTables(session, host, options, limit)
      await listRows(session, host, page, { ...options, lastMinutes, limit })
    })

const listPages = async ({ client, output }: Session, search = ''): Promise<void> => {
  const { data } = await client.call('GET /api/v1/catalogue')
  const wanted = search.toLowerCase()
  const rows = data.tables
    .filter(({ name, title, doc }) => `${name} ${title} ${doc}`.toLowerCase().includes(wanted))
    .map(({ name, title, topic, doc }) => ({ name, title, topic, doc }))
  output.list({
    rows,
    empty: 'No table pages match.',
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'TITLE', value: ({ title }) => title },
      { title: 'TOPIC', value: ({ topic }) => topic },
      { title: 'DESCRIPTION', value: ({ doc }) => doc },
    ],
  })
}

const listTables = async (
  { client, output }: Session,
  { id: hostId }: HostEntry,
  { search }: TablesOptions,
  limit: number,
): Promise<void> => {
  const { data, metadata } = await client.call('GET /api/v1/tables', { query: { hostId, search, limit } })
  output.list({
    rows: data,
    empty: 'No tables match.',
    columns: [
      { title: 'DATABASE', value: ({ database }) => database },
      { title: 'TABLE', value: ({ table }) => table },
      { title: 'ENGINE', value: ({ engine }) => engine },
      {
        title: 'ROWS',
        value: ({ totalRows }) => (totalRows == null || output.mode === 'plain' ? totalRows : formatCount(totalRows)),
        isRight: true,
      },
    ],
  })
  if (metadata.truncated) output.note(`Only the first ${data.length} tables are listed; use --limit or --search.`)
}

interface RowSelection extends Pick<TablesOptions, 'search' | 'filter' | 'sort'> {
  limit: number
  lastMinutes: number | undefined
}

const listRows = async (
  { client, output }: Session,
  { id: hostId }: HostEntry,
  name: string,
  { search, filter = [], sort, limit, lastMinutes }: RowSelection,
): Promise<void> => {
  const selected = { hostId, search, sort, lastMinutes, limit: Math.min(limit, maxPageRows) }
  const query = new URLSearchParams(filter.map((condition): [string, string] => ['filter', condition]))
  for (const [key, value] of Object.entries(selected)) if (value !== undefined) query.set(key, String(value))
  const path = { name }
  const first = await client.call('GET /api/v1/tables/{name}', { path, query })
  const { table, unavailable } = first.metadata
  if (unavailable) output.note(unavailable.message)
  const rows = [...first.data]
  for (let cursor = first.metadata.nextCursor; cursor && rows.length < limit;) {
    query.set('cursor', cursor)
    const next = await client.call('GET /api/v1/tables/{name}', { path, query })
    rows.push(...next.data)
    cursor = next.metadata.nextCursor
  }
  output.list({
    rows: rows.slice(0, limit),
    columns: createPageColumns(table.columns, output.mode),
    empty: 'No rows match.',
  })
}
