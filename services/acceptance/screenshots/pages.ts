import { z } from 'zod'
import { fetchJson } from '../../testing/fetch-json.ts'

interface ScreenshotPage {
  /** The file name without extension. */
  name: string
  /** The path in the URL, or a function that determines it. */
  path: string | ((url: string) => Promise<string>)
}

const Rows = z.object({ data: z.array(z.object({ query_id: z.string() })).min(1) })

/** Returns the path of the page of the slowest logged query. */
const slowestQuery = async (url: string): Promise<string> => {
  const { body } = await fetchJson(`${url}/api/v1/tables/slow-queries?hostId=0&limit=1`)
  return `/queries/${encodeURIComponent(Rows.parse(body).data[0]?.query_id ?? '')}?host=0`
}

const statement = 'SELECT status, count(), sum(amount) FROM shop.orders WHERE customer_id < 1000 GROUP BY status'

/** Pages that show the product. The README shows the first one. */
export const screenshotPages: readonly ScreenshotPage[] = [
  { name: 'overview', path: '/overview?host=0&range=24h' },
  { name: 'fleet', path: '/fleet?host=0' },
  { name: 'health', path: '/health?host=0&hosts=all' },
  { name: 'queries', path: '/topics/queries?host=0&range=24h' },
  { name: 'fingerprints', path: '/fingerprints?host=0&range=7d' },
  { name: 'query', path: slowestQuery },
  { name: 'explain', path: `/explain?host=0&sql=${encodeURIComponent(statement)}&mode=plan` },
  { name: 'explorer', path: '/explorer?host=0&database=shop&table=orders' },
  { name: 'parts', path: '/parts?host=0&range=7d' },
  { name: 'rules', path: '/alerts/rules?host=0' },
]
