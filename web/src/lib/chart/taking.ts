import type { ChartData } from '#proto/query.ts'
import { copyText, copyYourself } from '#lib/ui/copy-text.ts'
import { saveFile } from '#lib/ui/save-file.ts'
import { toCsv } from './csv.ts'

/** What the clipboard does not take comes as a file. Each tells what it did. */
export const takeCsv = async (data: ChartData): Promise<string> => {
  const csv = toCsv(data)
  if (await copyText(csv)) return 'The rows are in the clipboard.'
  saveFile(new Blob([csv], { type: 'text/csv' }), `${data.chart.name}.csv`)
  return 'The rows were saved as a file.'
}

export const takeText = async (text: string, what: string): Promise<string> =>
  (await copyText(text)) ? `${what} is in the clipboard.` : `${copyYourself}.`

export const takePicture = async (figure: HTMLElement, title: string): Promise<string> => {
  const { drawn } = await import('./picture.ts')
  const picture = await drawn(figure, title)
  if (await isPictureCopied(picture)) return 'The picture is in the clipboard.'
  saveFile(picture, `${title}.png`)
  return 'The picture was saved as a file.'
}

/** Only secure origins have this. */
const isPictureCopied = async (picture: Blob): Promise<boolean> => {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })])
    return true
  } catch {
    return false
  }
}
