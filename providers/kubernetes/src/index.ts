import { defineProvider } from '@crosstie/resources/provider'

export const provider = defineProvider({ name: 'kubernetes', summary: '', kinds: [] })
