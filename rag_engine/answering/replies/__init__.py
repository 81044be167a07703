"""What a language model wrote, looked at for faults: another language, or a refusal of what it answered."""
