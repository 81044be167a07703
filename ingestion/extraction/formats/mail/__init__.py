"""E-mail: messages, mailboxes, web archives and the files of Outlook."""
