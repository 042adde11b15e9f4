import { redirect } from '@sveltejs/kit'
import { texts } from './texts.ts'

/** The documentation begins with its first text. */
export const load = ({ url }: { url: URL }) => redirect(307, `/docs/${texts[0]?.id ?? 'settings'}${url.search}`)
